#include "stoker/cli/shell_completion.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class ShellCompletion : public ::testing::Test {
 protected:
  ShellCompletion() {
    const Command train = app_.root().add_command("train", "Train it's model");
    train.add_option("-o,--opt", opt_, "sgd: [fast]").one_of({"sgd", "adam"});
    train.add_flag("--dry", dry_, ".dots at the start");
    const Command bench = app_.root().add_command("bench", "Measure");
    bench.add_command("feed", "The feed").add_option("files", files_, "what");
  }
  [[nodiscard]] CommandInfo tree() const { return command_tree(app_.root()); }

  CommandLine app_{"stoker", "Does things."};
  std::string opt_ = "sgd";
  bool dry_ = false;
  std::vector<std::string> files_;
};

TEST_F(ShellCompletion, TheTreeIsThatOfTheDefinitions) {
  const CommandInfo program = tree();
  ASSERT_EQ(program.commands.size(), 2u);
  const CommandInfo& train = program.commands[0];
  ASSERT_EQ(train.flags.size(), 3u);  // with --help
  EXPECT_EQ(train.flags[1].names, (std::vector<std::string>{"-o", "--opt"}));
  EXPECT_EQ(train.flags[1].choices, (std::vector<std::string>{"sgd", "adam"}));
  EXPECT_EQ(train.flags[1].otherwise, "sgd");
  EXPECT_EQ(train.flags[2].value, "");
  EXPECT_EQ(program.commands[1].commands[0].positionals[0].names.front(), "files");
}

TEST_F(ShellCompletion, BashKnowsCommandsFlagsAndValues) {
  const std::string script = bash_completion(tree());
  EXPECT_TRUE(has(script, "/train|/bench|bench/feed)"));
  EXPECT_TRUE(has(script, "train) words=\"-h --help -o --opt --dry\""));
  EXPECT_TRUE(has(script, "train\\ --opt) values=\"sgd adam\""));
}

TEST_F(ShellCompletion, ZshAndFishEscapeDescriptions) {
  EXPECT_TRUE(has(zsh_completion(tree()), "'--opt[sgd\\: \\[fast\\]]:TEXT:(sgd adam)'"));
  EXPECT_TRUE(has(fish_completion(tree()), "-f -a train -d 'Train it'\\''s model'"));
}

TEST_F(ShellCompletion, TheManualPageHasEveryFlag) {
  const std::string page = manual_page(tree(), "1.0");
  EXPECT_TRUE(has(page, ".SH \\fBstoker train\\fR"));
  EXPECT_TRUE(has(page, ".SH \\fBstoker bench feed\\fR"));
  EXPECT_TRUE(has(page, "\\fB\\-\\-opt\\fR"));
  EXPECT_TRUE(has(page, "\n\\&.dots"));  // not a command of roff
}

}  // namespace
}  // namespace stoker

#include "stoker/cli/yaml_flags.h"

#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

struct Train {
  CommandLine line{"train", ""};
  Command app = line.root();
  double lr = 0.1;
  std::string data, policy = "none", config;
  std::vector<double> mean = {0.0};
  bool verbose = false;
  Flag lr_flag = app.add_option("--lr", lr, "").between(0.0, 1e9);
  Flag data_flag = app.add_option("-d,--data", data, "");

  Train() {
    app.add_option("--aa", policy, "");
    app.add_option("--mean", mean, "").values(1, 3).show_default();
    app.add_flag("--verbose", verbose, "");
    app.add_option("--config", config, "");
  }
};

std::filesystem::path file_of(const TempFolder& folder, const std::string& text) {
  return folder.write("c.yaml", Bytes(text.begin(), text.end()));
}

TEST(YamlFlags, GivesFlagsTheirValuesUnlessTheCommandLineDoes) {
  const TempFolder folder;
  Train command;
  command.line.parse("--lr 0.5");
  apply_yaml(command.app, file_of(folder,
                                  "lr: 0.2\ndata: mnist\nmean: [0.1, 0.2, 0.3]\n"
                                  "verbose: true\naa: \"rotate(-15,15),noise(0.1)\"\n"));
  EXPECT_EQ(command.lr, 0.5);
  EXPECT_EQ(command.data, "mnist");
  EXPECT_EQ(command.mean, (std::vector<double>{0.1, 0.2, 0.3}));
  EXPECT_TRUE(command.verbose);
  EXPECT_EQ(command.policy, "rotate(-15,15),noise(0.1)");
}

TEST(YamlFlags, WhatTheCommandLineExcludesIsPassedOver) {
  const TempFolder folder;
  const std::string text = "lr: 0.2\ndata: mnist\naa: flip\n";
  Train command;
  command.lr_flag.excludes(command.data_flag);
  command.line.parse("--lr 0.5");
  apply_yaml(command.app, file_of(folder, text));
  EXPECT_EQ(command.data, "") << "--lr was given and excludes it";
  EXPECT_EQ(command.policy, "flip");
  Train nothing_given;
  nothing_given.lr_flag.excludes(nothing_given.data_flag);
  nothing_given.line.parse("");
  apply_yaml(nothing_given.app, file_of(folder, text));
  EXPECT_EQ(nothing_given.data, "mnist") << "what stands in one file is not weighed there";
  Train resumed;
  resumed.lr_flag.excludes(resumed.data_flag);
  resumed.line.parse("--lr 0.5");
  apply_run_yaml(resumed.app, text, "args.yaml");
  EXPECT_EQ(resumed.data, "mnist");
  EXPECT_THROW(apply_run_yaml(resumed.app, "a: [", "args.yaml"), Error);
}

TEST(YamlFlags, WritesWhatItReadsBack) {
  const TempFolder folder;
  Train command;
  command.line.parse("--data \"a b: \\\"c\\\"\" --mean 0.1 0.2");
  command.data = "x";
  const std::string text = to_yaml(flag_values(command.app, {"config"}));
  Train other;
  other.line.parse("");
  apply_yaml(other.app, file_of(folder, text));
  EXPECT_EQ(to_yaml(flag_values(other.app, {"config"})), text);
  EXPECT_EQ(other.mean, (std::vector<double>{0.1, 0.2}));
  EXPECT_FALSE(other.verbose);
}

// A flag that is on unless it is negated is written as what it stands at.
TEST(YamlFlags, AFlagThatIsOnByDefaultIsWrittenAndReadBack) {
  for (const auto& [words, expected] :
       {std::pair{"", true}, {"--no-freeze", false}, {"--freeze", true}}) {
    const auto add = [](const Command& app, bool& freeze) {
      app.add_flag("--freeze,!--no-freeze", freeze, "").default_text("true");
    };
    CommandLine line("stoker", ""), other("stoker", "");
    bool freeze = true, read = true;
    add(line.root(), freeze);
    add(other.root(), read);
    line.parse(words);
    const std::string text = to_yaml(flag_values(line.root(), {}));
    EXPECT_EQ(text, expected ? "freeze: true\n" : "freeze: false\n") << words;
    apply_yaml_text(other.root(), text, "test");
    EXPECT_EQ(freeze, expected);
    EXPECT_EQ(read, expected);
  }
}

TEST(YamlFlags, AnEmptyFileChangesNothing) {
  const TempFolder folder;
  Train command;
  apply_yaml(command.app, file_of(folder, ""));
  EXPECT_EQ(command.lr, 0.1);
}

TEST(YamlFlags, MistakesAreNamedWithTheirLine) {
  const TempFolder folder;
  const auto message = [&](const std::string& text) {
    Train command;
    return message_of([&] { apply_yaml(command.app, file_of(folder, text)); });
  };
  EXPECT_NE(message("data: x\nlrr: 1\n").find("line 2"), std::string::npos);
  EXPECT_NE(message("lrr: 1\n").find("Did you mean lr?"), std::string::npos);
  EXPECT_NE(message("lr: -1\n").find("line 1"), std::string::npos);
  EXPECT_NE(message("lr: fast\n").find("fast"), std::string::npos);
  EXPECT_NE(message("lr: {a: 1}\n").find("a list of values"), std::string::npos);
  EXPECT_NE(message("lr:\n").find("nothing"), std::string::npos);
  EXPECT_NE(message("config: x\n").find("\"config\""), std::string::npos);
  EXPECT_NE(message("[1, 2]\n").find("name: value"), std::string::npos);
  EXPECT_NE(message("lr: [1, 2\n").find("YAML"), std::string::npos);
  Train command;
  EXPECT_THROW(apply_yaml(command.app, folder.path() / "none.yaml"), Error);
}

}  // namespace
}  // namespace stoker

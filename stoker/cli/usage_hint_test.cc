#include "stoker/cli/usage_hint.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

CommandInfo hinted_program() {
  const CommandLine line("stoker", "");
  const Command app = line.root();
  static int number = 0;
  app.add_command("train", "").add_option("--epochs", number, "");
  app.add_command("bench", "").add_command("feed", "");
  return command_tree(app);
}

TEST(UsageHint, NamesTheCommandThatWasMeant) {
  EXPECT_EQ(usage_hint(hinted_program(), {"trian", "--epochs", "3"}),
            "unknown command trian. Did you mean train?");
  EXPECT_EQ(usage_hint(hinted_program(), {"bench", "fed"}),
            "unknown command fed. Did you mean feed?");
}

TEST(UsageHint, NamesTheFlagThatWasMeant) {
  EXPECT_EQ(usage_hint(hinted_program(), {"train", "--epoch=3"}),
            "unknown flag of `stoker train`: --epoch. Did you mean --epochs?");
}

TEST(UsageHint, ExplainsFlagsOfOtherPrograms) {
  EXPECT_EQ(usage_hint(hinted_program(), {"train", "--num-classes", "10"}),
            "`stoker train` has no --num-classes: the number of classes follows from the data; "
            "remove the flag.");
  EXPECT_EQ(usage_hint(hinted_program(), {"train", "fliplr=0.5"}),
            "`stoker train` has no fliplr=0.5: hflip(0.5) in --aa.");
}

TEST(UsageHint, PutsMessagesOfTheParserPlainly) {
  EXPECT_EQ(plain_usage_text("Could not convert: --epochs = many"),
            "--epochs: expected a number, got \"many\"");
  EXPECT_EQ(plain_usage_text("--img-size: Value big not in range 0 to 16384"),
            "--img-size: expected a number from 0 to 16384, got \"big\"");
  EXPECT_EQ(plain_usage_text("--fail-on: errors not in {error,never}"),
            "--fail-on: expected one of error,never, got \"errors\"");
  EXPECT_EQ(plain_usage_text("folder: Directory does not exist: x y"),
            "cannot find x y. Check the path");
  EXPECT_EQ(plain_usage_text("--fold requires --folds"), "--fold works only with --folds. Add it");
  EXPECT_EQ(plain_usage_text("something else"), "something else");
  EXPECT_EQ(plain_usage_text("--epochs is required\nelse"), "--epochs is required\nelse");
}

// std::regex calls itself for each letter.
TEST(UsageHint, TakesLongValues) {
  const std::string digits(1 << 20, '9');
  EXPECT_EQ(plain_usage_text("Could not convert: --epochs = " + digits),
            "--epochs: expected a number, got \"" + digits + "\"");
}

TEST(UsageHint, SaysNothingWhereAllWordsAreKnown) {
  EXPECT_EQ(usage_hint(hinted_program(), {"train", "--epochs", "3", "-x"}), "");
  EXPECT_EQ(usage_hint(hinted_program(), {"train", "--", "--other"}), "");
  EXPECT_EQ(usage_hint(hinted_program(), {}), "");
}

}  // namespace
}  // namespace stoker

#include "stoker/cli/usage_hint.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

CommandInfo program() {
  const CommandLine line("stoker", "");
  const Command app = line.root();
  static int number = 0;
  app.add_command("train", "").add_option("--epochs", number, "");
  app.add_command("bench", "").add_command("feed", "");
  return command_tree(app);
}

TEST(UsageHint, NamesTheCommandThatWasMeant) {
  EXPECT_EQ(usage_hint(program(), {"trian", "--epochs", "3"}),
            "there is no command trian. Did you mean train?");
  EXPECT_EQ(usage_hint(program(), {"bench", "fed"}), "there is no command fed. Did you mean feed?");
}

TEST(UsageHint, NamesTheFlagThatWasMeant) {
  EXPECT_EQ(usage_hint(program(), {"train", "--epoch=3"}),
            "there is no flag of `stoker train` called --epoch. Did you mean --epochs?");
}

TEST(UsageHint, SaysNothingWhereAllWordsAreKnown) {
  EXPECT_EQ(usage_hint(program(), {"train", "--epochs", "3", "-x"}), "");
  EXPECT_EQ(usage_hint(program(), {"train", "--", "--other"}), "");
  EXPECT_EQ(usage_hint(program(), {}), "");
}

}  // namespace
}  // namespace stoker

#include "stoker/cli/foreign_flags.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

using Words = std::vector<std::string>;

CommandInfo program() {
  const CommandLine line("stoker", "");
  const Command app = line.root();
  static std::string text;
  static bool on = false;
  const Command train = app.add_command("train", "");
  for (const char* name :
       {"--weight-decay", "--img-size", "--batch-size", "data,--data", "--amp", "--vary"}) {
    train.add_option(name, text, "");
  }
  train.add_flag("--model-ema", on, "");
  app.add_command("bench", "").add_command("feed", "").add_option("--batch-size", text, "");
  return command_tree(app);
}

TEST(ForeignFlags, SpellingsOfTimmAreUnderstood) {
  EXPECT_EQ(in_own_spelling(program(), {"train", "--wd", "0.1", "--batch_size=4", "--ema"}),
            (Words{"train", "--weight-decay", "0.1", "--batch-size=4", "--model-ema"}));
}

TEST(ForeignFlags, AssignmentsOfUltralyticsAreUnderstood) {
  EXPECT_EQ(in_own_spelling(program(), {"train", "data=flowers", "imgsz=224", "batch=8"}),
            (Words{"train", "--data=flowers", "--img-size=224", "--batch-size=8"}));
}

TEST(ForeignFlags, OtherWordsStayAsTheyAre) {
  const Words words = {"train", "a/b=c", "x=1", "--vary", "batch=1,2", "--what", "--", "--wd"};
  EXPECT_EQ(in_own_spelling(program(), words), words);
  EXPECT_EQ(in_own_spelling(program(), {"nothing", "--wd"}), (Words{"nothing", "--wd"}));
  EXPECT_EQ(in_own_spelling(program(), {}), Words());
}

TEST(ForeignFlags, MixedPrecisionMayHaveAValue) {
  EXPECT_EQ(in_own_spelling(program(), {"train", "--amp", "auto", "flowers"}),
            (Words{"train", "--amp=auto", "flowers"}));
  EXPECT_EQ(in_own_spelling(program(), {"train", "--amp", "flowers"}),
            (Words{"train", "--amp=on", "flowers"}));
  EXPECT_EQ(in_own_spelling(program(), {"train", "flowers", "--use_amp"}),
            (Words{"train", "flowers", "--amp=on"}));
}

TEST(ForeignFlags, WhatHasNoEquivalentIsExplained) {
  EXPECT_EQ(advice_on_flag("--num_classes"),
            "the number of classes follows from the data; remove the flag");
  EXPECT_EQ(advice_on_flag("--what"), "");
  EXPECT_EQ(advice_on_flag("--"), "");
}

}  // namespace
}  // namespace stoker

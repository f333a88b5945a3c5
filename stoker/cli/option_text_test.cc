#include "stoker/cli/option_text.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

const std::set<std::string> kFlags = {"on-error", "lr", "resume", "val-fraction"};

TEST(OptionText, OptionsBecomeFlags) {
  EXPECT_EQ(with_flags("`on_error` skip trains without them", kFlags),
            "--on-error skip trains without them");
  EXPECT_EQ(with_flags("Lower `lr`, or (`val_fraction`)", kFlags),
            "Lower --lr, or (--val-fraction)");
  EXPECT_EQ(with_flags("Resume with `resume=runs/a b=c`.", kFlags),
            "Resume with `--resume runs/a b=c`.");
}

TEST(OptionText, AllElseStays) {
  for (const char* text : {"", "no option", "`stoker doctor` and `lr now`", "`weight` of `lr ", "`",
                           "``", "`lr", "lr`", "on_error", "`Lr`", "`stoker train --lr 1`"}) {
    EXPECT_EQ(with_flags(text, kFlags), text);
  }
}

TEST(OptionText, AQuoteWithoutItsPairHidesNoOption) {
  EXPECT_EQ(with_flags("class \"it`s\": `lr` and `stoker ops`", kFlags),
            "class \"it`s\": --lr and `stoker ops`");
}

TEST(OptionText, TheProgramsFlagsAreSetOnce) {
  EXPECT_EQ(with_flags("`lr`"), "`lr`");
  set_program_flags(kFlags);
  EXPECT_EQ(with_flags("`lr`"), "--lr");
  set_program_flags({});
}

}  // namespace
}  // namespace stoker

#include "stoker/cli/setting_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Options {
  std::uint32_t count = 3;
  bool on = true, off = false;
  std::vector<double> mean;
  std::string text = "none", other;
  bool is_auto = false;
  double rate = 0.1;
  bool second = false;

  std::vector<Setting> settings() {
    return {
        {.name = "count", .help = "", .place = &count, .range = SettingRange{1, 9}, .letter = 'c'},
        {.name = "on", .help = "", .place = &on},
        {.name = "off", .help = "", .place = &off},
        {.name = "mean", .help = "", .place = &mean, .most_values = 3},
        {.name = "text", .help = "", .place = &text, .excludes = {"other"}},
        {.name = "other", .help = "", .place = &other, .excludes = {"text"}},
        {.name = "rate", .help = "", .place = auto_text(is_auto, rate, {0, 1})},
        {.name = "kind",
         .help = "",
         .place = either_text(second, "first", "second"),
         .choices = {"first", "second"},
         .needs = "count"}};
  }
};

struct Program {
  Options options;
  CommandLine line{"stoker", ""};
  Program() { add_settings(line.root(), options.settings()); }
};

TEST(SettingFlags, EveryKindIsRead) {
  Program program;
  program.line.parse("-c 5 --no-on --off --mean 0.1 0.2 --text x --rate 0.5 --kind second");
  const Options& options = program.options;
  EXPECT_EQ(options.count, 5u);
  EXPECT_FALSE(options.on);
  EXPECT_TRUE(options.off);
  EXPECT_THAT(options.mean, ElementsAre(0.1, 0.2));
  EXPECT_EQ(options.text, "x");
  EXPECT_EQ(options.rate, 0.5);
  EXPECT_TRUE(options.second);
}

TEST(SettingFlags, GivenAreThoseOnTheCommandLine) {
  Program program;
  program.line.parse("-c 3 --on --rate auto");
  EXPECT_THAT(given_settings(program.line.root(), program.options.settings()),
              ElementsAre("count", "on", "rate"));
  EXPECT_TRUE(program.options.is_auto);
}

TEST(SettingFlags, WhatDoesNotFitIsRefused) {
  for (const char* words : {"--count 0", "--count 10", "--count x", "--text a --other b",
                            "--kind second", "-c 1 --kind third"}) {
    Program program;
    EXPECT_THROW(program.line.parse(words), UsageError) << words;
  }
}

TEST(SettingFlags, AnErrorOfATextNamesTheSetting) {
  Program program;
  try {
    program.line.parse("--rate 7");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("`rate` does not fit"));
    EXPECT_THAT(error.what(), HasSubstr("a number from 0 to 1, or auto"));
  }
}

}  // namespace
}  // namespace stoker

#include "stoker/core/setting.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using Texts = std::vector<std::string>;

enum class Colour { kRed, kBlue };
const std::array<std::string, 2> kColours = {"red", "blue"};

struct Options {
  std::string text = "a b";
  bool on = false;
  std::uint32_t count = 3;
  double share = 0.25;
  std::vector<double> mean;
  Colour colour = Colour::kRed;
  bool is_auto = false;
  double rate = 0.1;
};

std::vector<Setting> settings_of(Options& options) {
  return {{.name = "text", .help = "", .place = &options.text, .scope = SettingScope::kProcess},
          {.name = "on", .help = "", .place = &options.on},
          {.name = "count", .help = "", .place = &options.count, .range = SettingRange{1, 10}},
          {.name = "share", .help = "", .place = &options.share, .range = SettingRange{0, 1}},
          {.name = "mean", .help = "", .place = &options.mean, .most_values = 3},
          {.name = "colour",
           .help = "",
           .place = enum_text(options.colour, kColours),
           .choices = {"red", "blue"}},
          {.name = "rate", .help = "", .place = auto_text(options.is_auto, options.rate, {0, 1})}};
}

const Setting& named(const std::vector<Setting>& all, const std::string& name) {
  for (const Setting& setting : all) {
    if (setting.name == name) return setting;
  }
  throw std::logic_error(name);
}

TEST(Setting, ReadsWhatItWrote) {
  Options options;
  const std::vector<Setting> all = settings_of(options);
  const std::vector<std::pair<std::string, Texts>> given = {
      {"text", {"x: \"y\""}}, {"on", {"true"}},     {"count", {"10"}}, {"share", {"0.0001"}},
      {"mean", {"0.5", "1"}}, {"colour", {"blue"}}, {"rate", {"0.03"}}};
  for (const auto& [name, texts] : given) {
    set_texts(named(all, name), texts);
    EXPECT_EQ(texts_of(named(all, name)), texts) << name;
  }
  EXPECT_EQ(options.colour, Colour::kBlue);
  EXPECT_EQ(options.count, 10u);
  EXPECT_EQ(options.rate, 0.03);
  EXPECT_FALSE(options.is_auto);
}

TEST(Setting, RefusesWhatDoesNotFitAndKeepsTheValue) {
  Options options;
  const std::vector<Setting> all = settings_of(options);
  const std::vector<std::pair<std::string, Texts>> wrong = {{"on", {"maybe"}},
                                                            {"count", {"0"}},
                                                            {"count", {"11"}},
                                                            {"count", {"-1"}},
                                                            {"count", {"3.5"}},
                                                            {"count", {"3x"}},
                                                            {"count", {""}},
                                                            {"count", {"1", "2"}},
                                                            {"share", {"1.5"}},
                                                            {"share", {"nan"}},
                                                            {"share", {"many"}},
                                                            {"mean", {"1", "x"}},
                                                            {"mean", {"1", "2", "3", "4"}},
                                                            {"colour", {"green"}},
                                                            {"rate", {"2"}},
                                                            {"text", {}}};
  for (const auto& [name, texts] : wrong) {
    const Texts before = texts_of(named(all, name));
    EXPECT_THROW(set_texts(named(all, name), texts), Error) << name;
    EXPECT_EQ(texts_of(named(all, name)), before) << name;
  }
}

TEST(Setting, SaysWhatItExpects) {
  Options options;
  const std::vector<Setting> all = settings_of(options);
  const auto message = [&](const std::string& name, const std::string& text) {
    try {
      set_texts(named(all, name), {text});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message("count", "0"), HasSubstr("`count` does not fit. Expected a whole number"));
  EXPECT_THAT(message("count", "0"), HasSubstr("a whole number from 1 to 10"));
  EXPECT_THAT(message("colour", "blu"), HasSubstr("red, blue"));
  EXPECT_THAT(message("rate", "fast"), HasSubstr("a number from 0 to 1, or auto"));
  EXPECT_EQ(type_text(named(all, "count")), "whole number from 1 to 10");
  EXPECT_EQ(type_text(named(all, "colour")), "red, blue");
  EXPECT_EQ(type_text(named(all, "on")), "switch");
}

TEST(Setting, AutoKeepsTheNumber) {
  Options options;
  const std::vector<Setting> all = settings_of(options);
  set_texts(named(all, "rate"), {"auto"});
  EXPECT_TRUE(options.is_auto);
  EXPECT_EQ(options.rate, 0.1);
  EXPECT_THAT(texts_of(named(all, "rate")), ElementsAre("auto"));
}

TEST(Setting, ValuesComeInTheOrderOfTheList) {
  Options options;
  const SettingValues values = values_of(settings_of(options), [](const Setting& setting) {
    return setting.scope == SettingScope::kResult && setting.range;
  });
  EXPECT_THAT(values, ElementsAre(Pair("count", Texts{"3"}), Pair("share", Texts{"0.25"})));
}

TEST(Setting, AHeadingIsGivenToAllThatAreAppended) {
  Options options;
  std::vector<Setting> all;
  append_settings(all, "Numbers", settings_of(options));
  for (const Setting& setting : all) EXPECT_EQ(setting.group, "Numbers");
  EXPECT_EQ(all.size(), 7u);
}

}  // namespace
}  // namespace stoker

#include "stoker/run/settings_file.h"

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"

namespace stoker {
namespace {

struct Train {
  double lr = 0.1;
  std::string data = {}, policy = "none", config = {};
  std::vector<double> mean = {0.0};
  bool verbose = false, freeze = true;
  GivenSettings given = {};

  std::vector<Setting> settings() {
    return {{.name = "lr",
             .help = "",
             .place = &lr,
             .range = SettingRange{0, 1e9},
             .excludes = {"data"}},
            {.name = "data", .help = "", .place = &data, .excludes = {"lr"}},
            {.name = "aa", .help = "", .place = &policy},
            {.name = "mean", .help = "", .place = &mean, .most_values = 3},
            {.name = "verbose", .help = "", .place = &verbose},
            {.name = "freeze", .help = "", .place = &freeze},
            {.name = "config", .help = "", .place = &config, .scope = SettingScope::kProcess}};
  }
  [[nodiscard]] std::string yaml() {
    return to_yaml(values_of(settings(), [](const Setting& setting) {
      return setting.scope != SettingScope::kProcess;
    }));
  }
  void apply(const std::filesystem::path& path) { apply_settings_file(settings(), given, path); }
};

std::filesystem::path file_of(const TempFolder& folder, const std::string& text) {
  return folder.write("c.yaml", Bytes(text.begin(), text.end()));
}

TEST(SettingsFile, SetsWhatIsNotGiven) {
  const TempFolder folder;
  Train train{.lr = 0.5, .given = {"lr", "freeze"}};
  train.apply(file_of(folder,
                      "lr: 0.2\nmean: [0.1, 0.2, 0.3]\nfreeze: false\n"
                      "verbose: true\naa: \"rotate(-15,15),noise(0.1)\"\n"));
  EXPECT_EQ(train.lr, 0.5);
  EXPECT_TRUE(train.freeze);
  EXPECT_EQ(train.mean, (std::vector<double>{0.1, 0.2, 0.3}));
  EXPECT_TRUE(train.verbose);
  EXPECT_EQ(train.policy, "rotate(-15,15),noise(0.1)");
  EXPECT_EQ(train.given, (GivenSettings{"aa", "freeze", "lr", "mean", "verbose"}));
  apply_settings_text(train.settings(), train.given, "aa: flip\ndata: x\n", "second");
  EXPECT_EQ(train.policy, "rotate(-15,15),noise(0.1)") << "the first file wins";
}

TEST(SettingsFile, WhatIsExcludedByWhatIsGivenIsPassedOver) {
  const TempFolder folder;
  const std::string text = "lr: 0.2\ndata: mnist\naa: flip\n";
  Train train{.lr = 0.5, .given = {"lr"}};
  train.apply(file_of(folder, text));
  EXPECT_EQ(train.data, "") << "lr was given and excludes it";
  EXPECT_EQ(train.policy, "flip");
  Train nothing_given;
  nothing_given.apply(file_of(folder, text));
  EXPECT_EQ(nothing_given.data, "mnist") << "what stands in one file is not weighed there";
  Train resumed{.lr = 0.5, .given = {"lr"}};
  apply_run_settings(resumed.settings(), resumed.given, text, "args.yaml");
  EXPECT_EQ(resumed.data, "mnist");
  EXPECT_EQ(resumed.lr, 0.5);
  EXPECT_THROW(apply_run_settings(resumed.settings(), resumed.given, "a: [", "args.yaml"), Error);
  EXPECT_THROW(apply_run_settings(resumed.settings(), resumed.given,
                                  std::string((1 << 20) + 1, ' '), "args.yaml"),
               Error);
}

TEST(SettingsFile, WritesWhatItReadsBack) {
  const TempFolder folder;
  Train train{.data = "a b: \"c\"", .mean = {0.1, 0.2}, .freeze = false};
  const std::string text = train.yaml();
  EXPECT_EQ(text,
            "lr: 0.1\ndata: \"a b: \\\"c\\\"\"\naa: none\nmean: [0.1, 0.2]\nverbose: false\n"
            "freeze: false\n");
  Train other;
  other.apply(file_of(folder, text));
  EXPECT_EQ(other.yaml(), text);
  EXPECT_EQ(other.mean, (std::vector<double>{0.1, 0.2}));
  EXPECT_FALSE(other.freeze);
}

TEST(SettingsFile, AnEmptyFileChangesNothing) {
  const TempFolder folder;
  Train train;
  train.apply(file_of(folder, ""));
  EXPECT_EQ(train.lr, 0.1);
  EXPECT_TRUE(train.given.empty());
}

TEST(SettingsFile, MistakesAreNamedWithTheirLine) {
  const TempFolder folder;
  const auto message = [&](const std::string& text) {
    Train train;
    return message_of([&] { train.apply(file_of(folder, text)); });
  };
  EXPECT_NE(message("data: x\nlrr: 1\n").find("line 2"), std::string::npos);
  EXPECT_NE(message("lrr: 1\n").find("Did you mean lr?"), std::string::npos);
  EXPECT_NE(message("lr: -1\n").find("line 1"), std::string::npos);
  EXPECT_NE(message("lr: -1\n").find("a number from 0 to 1000000000 for lr"), std::string::npos);
  EXPECT_NE(message("lr: fast\n").find("fast"), std::string::npos);
  EXPECT_NE(message("lr: {a: 1}\n").find("a list of values"), std::string::npos);
  EXPECT_NE(message("lr:\n").find("nothing"), std::string::npos);
  EXPECT_NE(message("config: x\n").find("\"config\""), std::string::npos);
  EXPECT_NE(message("[1, 2]\n").find("name: value"), std::string::npos);
  EXPECT_NE(message("lr: [1, 2\n").find("YAML"), std::string::npos);
  Train train;
  EXPECT_THROW(train.apply(folder.path() / "none.yaml"), Error);
}

TEST(SettingsFile, AMistakeKeepsItsCauseWithoutTellingItTwice) {
  const TempFolder folder;
  Train train;
  const ErrorDetails error = error_of([&] { train.apply(file_of(folder, "lr: fast\n")); });
  ASSERT_EQ(error.causes.size(), 1U);
  EXPECT_EQ(error.causes.front().what, "`lr` does not fit");
  EXPECT_EQ(full_message(error), to_string(error));
}

}  // namespace
}  // namespace stoker

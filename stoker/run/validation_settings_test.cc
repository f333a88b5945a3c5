#include "stoker/run/validation_settings.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/data/test_files.h"
#include "stoker/data/test_listings.h"
#include "stoker/run/settings_file.h"

namespace stoker {
namespace {

using testing::HasSubstr;

class ValidationSettingsTest : public testing::Test {
 protected:
  ValidationSettingsTest() {
    for (const char* part : {"old/train", "old/test", "parts/train", "parts/val", "parts/test"}) {
      for (int i = 0; i < 10; ++i) {
        write_files(folder_, {fmt::format("{}/cat/{}.jpg", part, i)});
      }
    }
  }
  [[nodiscard]] TrainingRequest request(const std::string& data) const {
    return settings_.request((folder_.path() / data).string(), {});
  }
  [[nodiscard]] TrainingParts parts(const std::string& data) const {
    return open_training_parts(request(data));
  }
  // As it would stand in args.yaml.
  [[nodiscard]] std::string settings(const std::string& data) const {
    ValidationSettings resolved = settings_.resolved(parts(data));
    return to_yaml(values_of(settings_of(resolved), [&](const Setting& setting) {
      return settings_.is_recorded(setting.name);
    }));
  }

  TempFolder folder_;
  ValidationSettings settings_;
};

TEST_F(ValidationSettingsTest, WithoutAnyTheDefaultFractionValidates) {
  settings_.check();
  EXPECT_FALSE(request("old").division);
  EXPECT_FALSE(request("old").validate_on_test);
  EXPECT_EQ(parts("old").validation_origin, "val-fraction 0.1, split-seed 0 of the training data");
  EXPECT_THAT(settings("old"), HasSubstr("val-fraction: 0.1\n"));
  EXPECT_THAT(settings("parts"), HasSubstr("val-fraction: 0\n")) << "it was not used";
}

TEST_F(ValidationSettingsTest, WhatArgsYamlSaysIsReadBackToTheSameParts) {
  settings_.fraction = 0.3;
  settings_.seed = 5;
  const std::string text = settings("old");
  ValidationSettings again;
  GivenSettings given;
  again.note_run_settings(text);
  apply_run_settings(settings_of(again), given, text, "args.yaml");
  again.check();
  const TrainingRequest request = again.request((folder_.path() / "old").string(), {});
  ASSERT_TRUE(request.division);
  EXPECT_EQ(to_text(*request.division), "val-fraction 0.3, split-seed 5");
}

TEST_F(ValidationSettingsTest, WaysToValidateExcludeOneAnother) {
  for (const Setting& setting : settings_of(settings_)) {
    for (const std::string& other : setting.excludes) EXPECT_NE(other, setting.name);
  }
  GivenSettings given;
  apply_settings_text(settings_of(settings_), given, "val-every: 6\nval-data: x\n", "a config");
  EXPECT_THAT(to_string(error_of([&] { settings_.check(); })),
              HasSubstr("`val_data`, `val_every`"));
}

TEST_F(ValidationSettingsTest, ARunOfBeforeThreeSplitsKeepsItsParts) {
  const std::string old_settings = "data: x\nval-data: \"\"\nval-every: 6\n";
  settings_.note_run_settings(old_settings);
  GivenSettings given;
  apply_run_settings(settings_of(settings_), given, "val-data: \"\"\nval-every: 6\n", "args.yaml");
  settings_.check();
  EXPECT_TRUE(request("old").validate_on_test) << "it had only train and test";
  EXPECT_EQ(parts("old").test, nullptr);
  EXPECT_FALSE(request("parts").validate_on_test);
  EXPECT_EQ(parts("parts").validation_origin, "validation part");
  EXPECT_EQ(parts("old/train").validation_origin, "val-every 6 of the training data");
  EXPECT_EQ(settings("old"), "val-data: \"\"\nval-every: 6\n") << "its checkpoints know no more";
}

TEST_F(ValidationSettingsTest, AFoldIsOneOfTheFolds) {
  settings_.folds = 5;
  settings_.fold = 2;
  settings_.seed = 9;
  settings_.check();
  EXPECT_EQ(parts("old").validation_origin, "folds 5, fold 2, split-seed 9 of the training data");
  EXPECT_EQ(parts("old").validation->size(), 2U);
  ValidationSettings all;
  all.folds = 5;
  EXPECT_TRUE(all.wants_all_folds());
  EXPECT_THAT(to_string(error_of([&] { all.check(); })), HasSubstr("`fold` 0 to 4"));
}

}  // namespace
}  // namespace stoker

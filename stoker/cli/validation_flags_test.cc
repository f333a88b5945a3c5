#include "stoker/cli/validation_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/data/test_files.h"
#include "stoker/data/test_listings.h"

namespace stoker {
namespace {

using testing::HasSubstr;

class ValidationFlagsTest : public testing::Test {
 protected:
  ValidationFlagsTest() {
    flags_.add_to(app_.root());
    for (const char* part : {"old/train", "old/test", "parts/train", "parts/val", "parts/test"}) {
      for (int i = 0; i < 10; ++i) {
        write_files(folder_, {fmt::format("{}/cat/{}.jpg", part, i)});
      }
    }
  }
  [[nodiscard]] TrainingRequest request(const std::string& data) const {
    return flags_.request((folder_.path() / data).string(), {});
  }
  [[nodiscard]] TrainingParts parts(const std::string& data) const {
    return open_training_parts(request(data));
  }
  // As it would stand in args.yaml.
  [[nodiscard]] std::string settings(const std::string& data) const {
    FlagValues values = flag_values(app_.root(), {});
    flags_.resolve(values, parts(data));
    return to_yaml(values);
  }

  TempFolder folder_;
  CommandLine app_{"stoker", ""};
  ValidationFlags flags_;
};

TEST_F(ValidationFlagsTest, WithoutAnyTheDefaultFractionValidates) {
  app_.parse("");
  flags_.check();
  EXPECT_FALSE(request("old").division);
  EXPECT_FALSE(request("old").validate_on_test);
  EXPECT_EQ(parts("old").validation_origin, "val-fraction 0.1, split-seed 0 of the training data");
  EXPECT_THAT(settings("old"), HasSubstr("val-fraction: 0.1\n"));
  EXPECT_THAT(settings("parts"), HasSubstr("val-fraction: 0\n")) << "it was not used";
}

TEST_F(ValidationFlagsTest, WhatArgsYamlSaysIsReadBackToTheSameParts) {
  app_.parse("--val-fraction 0.3 --split-seed 5");
  const std::string text = settings("old");
  ValidationFlags again;
  CommandLine other("stoker", "");
  again.add_to(other.root());
  other.parse("");
  again.note_run_settings(text);
  apply_run_yaml(other.root(), text, "args.yaml");
  again.check();
  const TrainingRequest request = again.request((folder_.path() / "old").string(), {});
  ASSERT_TRUE(request.division);
  EXPECT_EQ(to_text(*request.division), "val-fraction 0.3, split-seed 5");
}

TEST_F(ValidationFlagsTest, WaysToValidateExcludeOneAnother) {
  for (const char* line : {"--val-every 6 --val-fraction 0.2", "--val-data x --val-every 2",
                           "--val-split test --folds 5", "--val-data x --val-split test",
                           "--folds 3 --val-fraction 0.2"}) {
    CommandLine app("stoker", "");
    ValidationFlags flags;
    flags.add_to(app.root());
    EXPECT_THROW(app.parse(line), UsageError) << line;
  }
  app_.parse("");
  apply_yaml_text(app_.root(), "val-every: 6\nval-data: x\n", "a config");
  EXPECT_THAT(to_string(error_of([&] { flags_.check(); })), HasSubstr("--val-data, --val-every"));
}

TEST_F(ValidationFlagsTest, ARunOfBeforeThreeSplitsKeepsItsParts) {
  app_.parse("");
  const std::string old_settings = "data: x\nval-data: \"\"\nval-every: 6\n";
  flags_.note_run_settings(old_settings);
  apply_run_yaml(app_.root(), "val-data: \"\"\nval-every: 6\n", "args.yaml");
  flags_.check();
  EXPECT_TRUE(request("old").validate_on_test) << "it had only train and test";
  EXPECT_EQ(parts("old").test, nullptr);
  EXPECT_FALSE(request("parts").validate_on_test);
  EXPECT_EQ(parts("parts").validation_origin, "validation part");
  EXPECT_EQ(parts("old/train").validation_origin, "val-every 6 of the training data");
  EXPECT_EQ(settings("old"), "val-data: \"\"\nval-every: 6\n") << "its checkpoints know no more";
}

TEST_F(ValidationFlagsTest, AFoldIsOneOfTheFolds) {
  app_.parse("--folds 5 --fold 2 --split-seed 9");
  flags_.check();
  EXPECT_EQ(parts("old").validation_origin, "folds 5, fold 2, split-seed 9 of the training data");
  EXPECT_EQ(parts("old").validation->size(), 2U);
  CommandLine app("stoker", "");
  ValidationFlags all;
  all.add_to(app.root());
  app.parse("--folds 5");
  EXPECT_TRUE(all.wants_all_folds());
  EXPECT_THAT(to_string(error_of([&] { all.check(); })), HasSubstr("--fold 0 to 4"));
}

}  // namespace
}  // namespace stoker

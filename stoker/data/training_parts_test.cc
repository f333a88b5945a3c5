#include "stoker/data/training_parts.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/data/sources/source_view.h"
#include "stoker/data/test_files.h"
#include "stoker/data/test_listings.h"

namespace stoker {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class TrainingPartsTest : public testing::Test {
 protected:
  void put(const std::vector<std::string>& files) { write_files(folder_, files); }
  // Ten images of each class.
  void put_classes(const std::string& where, const std::vector<std::string>& classes) {
    for (const std::string& name : classes) {
      for (int i = 0; i < 10; ++i) put({where + "/" + name + "/" + std::to_string(i) + ".jpg"});
    }
  }
  void put_idx(const std::string& prefix, std::uint32_t n) {
    Bytes labels(n);
    for (std::uint32_t i = 0; i < n; ++i) labels[i] = i % 2;
    folder_.write("idx/" + prefix + "-images-idx3-ubyte", images_idx(n));
    folder_.write("idx/" + prefix + "-labels-idx1-ubyte", labels_idx(labels));
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  [[nodiscard]] DataOptions options() const {
    return {.places = {.environment = [](const char*) { return std::optional<std::string>(); },
                       .system_folder = folder_.path() / "system"}};
  }
  [[nodiscard]] TrainingParts open(const TrainingRequest& request) const {
    return open_training_parts(request, options());
  }
  [[nodiscard]] std::string refusal(const TrainingRequest& request) const {
    return to_string(error_of([&] { (void)open(request); }));
  }
  [[nodiscard]] static std::set<std::string> names(const Source& source) {
    std::set<std::string> all;
    for (std::uint64_t i = 0; i < source.size(); ++i) all.insert(source.sample_name(i));
    return all;
  }

  TempFolder folder_;
};

TEST_F(TrainingPartsTest, ThreeFoldersAreThreeParts) {
  put_classes("d/train", {"cat", "dog"});
  put({"d/val/cat/a.jpg", "d/val/dog/b.jpg", "d/test/cat/c.jpg", "d/test/dog/d.jpg"});
  const TrainingParts parts = open({.data = path("d")});
  EXPECT_EQ(parts.train->size(), 20U);
  EXPECT_EQ(names(*parts.validation), (std::set{path("d/val/cat/a.jpg"), path("d/val/dog/b.jpg")}));
  ASSERT_NE(parts.test, nullptr);
  EXPECT_EQ(names(*parts.test), (std::set{path("d/test/cat/c.jpg"), path("d/test/dog/d.jpg")}));
  EXPECT_FALSE(parts.division);
  EXPECT_EQ(parts.validation_origin, "validation part");
}

TEST_F(TrainingPartsTest, WithoutAValidationPartTheTrainingPartIsDivided) {
  put_classes("d/train", {"cat", "dog"});
  put_classes("d/test", {"cat", "dog"});
  const TrainingParts parts = open({.data = path("d")});
  EXPECT_EQ(parts.train->size(), 18U);
  EXPECT_EQ(parts.validation->size(), 2U);
  EXPECT_EQ(parts.test->size(), 20U);
  ASSERT_TRUE(parts.division);
  EXPECT_EQ(to_text(*parts.division), "val-fraction 0.1, split-seed 0");
  EXPECT_EQ(parts.validation_origin, "val-fraction 0.1, split-seed 0 of the training data");
  for (const std::string& name : names(*parts.validation)) {
    EXPECT_THAT(name, HasSubstr("/d/train/"));
    EXPECT_FALSE(names(*parts.train).contains(name));
  }
}

TEST_F(TrainingPartsTest, IdxDataIsDividedTooAndKeepsItsTestPart) {
  put_idx("train", 40);
  put_idx("t10k", 7);
  const TrainingParts parts = open({.data = path("idx")});
  EXPECT_EQ(parts.train->size(), 36U);
  EXPECT_EQ(parts.validation->size(), 4U);
  EXPECT_EQ(parts.test->size(), 7U);
  EXPECT_THAT(parts.validation->sample_name(0), HasSubstr("train-images"));
}

TEST_F(TrainingPartsTest, ValidationOnTheTestPartHasToBeAskedForAndLeavesNoTest) {
  put_idx("train", 40);
  put_idx("t10k", 7);
  const TrainingParts parts = open({.data = path("idx"), .validate_on_test = true});
  EXPECT_EQ(parts.train->size(), 40U);
  EXPECT_EQ(parts.validation->size(), 7U);
  EXPECT_EQ(parts.test, nullptr);
  EXPECT_EQ(parts.validation_origin, "test part");
  put_classes("d", {"cat"});
  EXPECT_THAT(refusal({.data = path("d"), .validate_on_test = true}), HasSubstr("no test part"));
}

TEST_F(TrainingPartsTest, FoldsAreMadeEvenWhereThereIsAValidationPart) {
  put_classes("d/train", {"cat", "dog"});
  put_classes("d/val", {"cat", "dog"});
  const TrainingParts parts =
      open({.data = path("d"),
            .division = Division{.kind = Division::Kind::kFolds, .folds = 5, .fold = 1}});
  EXPECT_EQ(parts.validation->size(), 4U);
  EXPECT_THAT(parts.validation->sample_name(0), HasSubstr("/d/train/"));
  EXPECT_THAT(parts.notes, ElementsAre(HasSubstr("validation part is not used")));
}

TEST_F(TrainingPartsTest, OtherDataCanBeNamedForValidationAndTest) {
  put_classes("d", {"cat", "dog"});
  put_classes("v/train", {"cat", "dog"});
  put({"v/val/cat/a.jpg", "v/val/dog/b.jpg", "t/cat/c.jpg", "t/dog/d.jpg", "t/dog/e.jpg"});
  const TrainingParts parts =
      open({.data = path("d"), .validation_data = path("v"), .test_data = path("t")});
  EXPECT_EQ(parts.train->size(), 20U);
  EXPECT_EQ(parts.validation->size(), 2U) << "its validation part";
  EXPECT_EQ(parts.test->size(), 3U) << "all of data without parts";
  EXPECT_THAT(refusal({.data = path("d"), .test_data = path("v")}),
              AllOf(HasSubstr("`test_data`"), HasSubstr("train and val")));
}

TEST_F(TrainingPartsTest, MissingClassesAreSaid) {
  put_classes("d", {"cat", "dog"});
  put_classes("e/train", {"cat", "dog"});
  put({"e/val/1.jpg", "flat/1.jpg", "flat/2.jpg"});
  EXPECT_THAT(refusal({.data = path("d/cat")}),
              AllOf(HasSubstr("the training data has no classes"), HasSubstr("class folders")));
  EXPECT_THAT(refusal({.data = path("e")}), HasSubstr("the validation data has no classes"));
  EXPECT_THAT(refusal({.data = path("d"), .validation_data = path("flat")}),
              HasSubstr("the validation data has no classes"));
  EXPECT_THAT(refusal({.data = path("d"), .test_data = path("flat")}),
              HasSubstr("the test data has no classes"));
}

TEST_F(TrainingPartsTest, ATestPartThatCannotBeEvaluatedIsNotedAndOmitted) {
  put_classes("d/train", {"cat", "dog"});
  put({"d/test/1.jpg"});
  const TrainingParts without = open({.data = path("d")});
  EXPECT_EQ(without.test, nullptr);
  EXPECT_THAT(without.notes, ElementsAre(HasSubstr("the test part has no classes")));
  put({"e/test/unknown/1.jpg"});
  put_classes("e/train", {"cat", "dog"});
  const TrainingParts unknown = open({.data = path("e")});
  EXPECT_EQ(unknown.test, nullptr);
  EXPECT_THAT(unknown.notes, ElementsAre(HasSubstr("other classes")));
  put_classes("f/train", {"cat", "dog"});
  put_classes("f/val", {"cat", "cow"});
  EXPECT_THAT(refusal({.data = path("f")}),
              AllOf(HasSubstr("the validation data has other classes"), HasSubstr("\"cow\"")));
}

TEST_F(TrainingPartsTest, EvaluationTakesTheTestPartElseValidationElseAll) {
  put_classes("d/train", {"cat"});
  put({"d/val/cat/a.jpg", "d/val/cat/b.jpg", "d/test/cat/c.jpg"});
  const auto part = [&](const std::string& data, std::optional<Split> split = {},
                        const std::optional<Division>& division = {}) {
    return open_evaluation_part(path(data), split, division, options());
  };
  EXPECT_EQ(part("d").source->size(), 1U);
  EXPECT_EQ(part("d").name, "test");
  EXPECT_EQ(part("d", Split::kValidation).source->size(), 2U);
  EXPECT_EQ(part("d", Split::kTest).source->sample_name(0), path("d/test/cat/c.jpg"));
  EXPECT_EQ(part("d/train").name, "all");
  EXPECT_EQ(part("d/train").source->size(), 10U);
  EXPECT_THROW((void)part("d/train", Split::kValidation), Error);
}

TEST_F(TrainingPartsTest, EvaluationMakesTheDivisionOfTheRunAgain) {
  put_idx("train", 40);
  put_idx("t10k", 7);
  const TrainingParts parts = open({.data = path("idx"), .seed = 3});
  const auto part = [&](Split split) {
    return open_evaluation_part(path("idx"), split, parts.division, options());
  };
  EXPECT_EQ(names(*part(Split::kValidation).source), names(*parts.validation));
  EXPECT_EQ(names(*part(Split::kTrain).source), names(*parts.train));
  EXPECT_EQ(part(Split::kTest).source->size(), 7U);
  EXPECT_EQ(part(Split::kValidation).name, "val (val-fraction 0.1, split-seed 3)");
  EXPECT_THAT(parts.notes, IsEmpty());
}

}  // namespace
}  // namespace stoker

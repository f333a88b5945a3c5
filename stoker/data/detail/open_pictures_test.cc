#include "stoker/data/detail/open_pictures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/data/test_listings.h"

namespace stoker::detail {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class OpenPictures : public ::testing::Test {
 protected:
  // The names of the samples, from the folder on.
  std::vector<std::string> names(const std::string& path, Split split) {
    const auto source = open_pictures(folder_.path() / path, split, {}, "");
    std::vector<std::string> result;
    for (std::uint64_t i = 0; i < source->size(); ++i) {
      result.push_back(std::filesystem::path(source->sample_name(i))
                           .lexically_normal()
                           .lexically_relative(folder_.path())
                           .string());
    }
    return result;
  }
  std::string refusal(const std::string& path, Split split) {
    return to_string(error_of([&] { (void)names(path, split); }));
  }
  void put(const std::vector<std::string>& files) { write_files(folder_, files); }
  void put_text(const std::string& name, const std::string& text) {
    folder_.write(name, Bytes(text.begin(), text.end()));
  }

  TempFolder folder_;
};

TEST_F(OpenPictures, TakesThePartThatIsMeant) {
  put({"d/train/cat/1.jpg", "d/valid/cat/2.jpg", "d/test/3.jpg"});
  EXPECT_THAT(names("d", Split::kTrain), ElementsAre("d/train/cat/1.jpg"));
  EXPECT_THAT(names("d", Split::kTest), ElementsAre("d/valid/cat/2.jpg"));
  EXPECT_THAT(names("d", Split::kJudged), ElementsAre("d/valid/cat/2.jpg"));
}

TEST_F(OpenPictures, AModelIsTriedOnAFolderWithoutParts) {
  put({"d/cat/1.jpg", "e/1.jpg", "e/2.png"});
  EXPECT_THAT(names("d", Split::kJudged), ElementsAre("d/cat/1.jpg"));
  EXPECT_THAT(names("e", Split::kJudged), ElementsAre("e/1.jpg", "e/2.png"));
  EXPECT_THAT(names("e/2.png", Split::kJudged), ElementsAre("e/2.png"));
}

TEST_F(OpenPictures, TrainingIsNotValidatedOnItself) {
  put({"d/cat/1.jpg", "e/train/cat/1.jpg", "e/test/2.jpg"});
  put_text("list.txt", "d/cat/1.jpg\tcat\n");
  EXPECT_THAT(refusal("d", Split::kTest),
              AllOf(HasSubstr("no part to validate on"), HasSubstr("stoker split")));
  EXPECT_THAT(refusal("e", Split::kTest), HasSubstr("pictures without classes"));
  EXPECT_THAT(refusal("list.txt", Split::kTest), HasSubstr("--val-data"));
}

TEST_F(OpenPictures, WithoutAValidationPartEveryNthOfAClassValidates) {
  put({"d/train/cat/1.jpg", "d/train/cat/2.jpg", "d/train/cat/3.jpg", "d/test/9.jpg"});
  const auto pair = open_unsplit(folder_.path() / "d", 2, {}, "");
  ASSERT_TRUE(pair.has_value());
  EXPECT_EQ(pair->train->size(), 1U);
  EXPECT_EQ(pair->validation->size(), 2U);
  put({"d/val/cat/4.jpg"});
  EXPECT_FALSE(open_unsplit(folder_.path() / "d", 2, {}, "").has_value());
}

TEST_F(OpenPictures, ListsOfASplitAreADataSet) {
  put({"d/cat/1.jpg", "d/dog/2.jpg"});
  put_text("s/train.txt", "#classes\tcat\tdog\n../d/cat/1.jpg\tcat\n");
  put_text("s/val.txt", "#classes\tcat\tdog\n../d/dog/2.jpg\tdog\n");
  EXPECT_THAT(names("s", Split::kTrain), ElementsAre("d/cat/1.jpg"));
  EXPECT_THAT(names("s", Split::kTest), ElementsAre("d/dog/2.jpg"));
  const auto source = open_pictures(folder_.path() / "s", Split::kTest, {}, "");
  EXPECT_THAT(source->class_names(), ElementsAre("cat", "dog"));
}

}  // namespace
}  // namespace stoker::detail

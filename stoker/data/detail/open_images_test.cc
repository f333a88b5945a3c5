#include "stoker/data/detail/open_images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/data/test_listings.h"

namespace stoker::detail {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class OpenImages : public ::testing::Test {
 protected:
  // The names of the samples, from the folder on.
  std::vector<std::string> names(const std::string& path, Split split) {
    const auto source = open_images(folder_.path() / path, split, {}, "");
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

TEST_F(OpenImages, TakesThePartThatIsMeant) {
  put({"d/train/cat/1.jpg", "d/valid/cat/2.jpg", "d/test/cat/3.jpg"});
  EXPECT_THAT(names("d", Split::kTrain), ElementsAre("d/train/cat/1.jpg"));
  EXPECT_THAT(names("d", Split::kValidation), ElementsAre("d/valid/cat/2.jpg"));
  EXPECT_THAT(names("d", Split::kTest), ElementsAre("d/test/cat/3.jpg"));
  EXPECT_EQ(image_parts(folder_.path() / "d"), (DataParts{.validation = true, .test = true}));
}

TEST_F(OpenImages, ATestPartIsNoValidationPartNorTheOtherWayRound) {
  put({"d/train/cat/1.jpg", "d/test/cat/3.jpg", "e/train/cat/1.jpg", "e/val/cat/2.jpg"});
  EXPECT_EQ(image_parts(folder_.path() / "d"), (DataParts{.validation = false, .test = true}));
  EXPECT_EQ(image_parts(folder_.path() / "e"), (DataParts{.validation = true, .test = false}));
  EXPECT_THAT(refusal("d", Split::kValidation),
              AllOf(HasSubstr("no validation part"), HasSubstr("got train and test")));
  EXPECT_THAT(refusal("e", Split::kTest),
              AllOf(HasSubstr("no test part"), HasSubstr("got train and val")));
}

TEST_F(OpenImages, DataWithoutPartsIsTrainingData) {
  put({"d/cat/1.jpg", "e/1.jpg", "e/2.png"});
  put_text("list.txt", "d/cat/1.jpg\tcat\n");
  EXPECT_THAT(names("d", Split::kTrain), ElementsAre("d/cat/1.jpg"));
  EXPECT_THAT(names("e", Split::kTrain), ElementsAre("e/1.jpg", "e/2.png"));
  EXPECT_THAT(names("e/2.png", Split::kTrain), ElementsAre("e/2.png"));
  EXPECT_THAT(names("list.txt", Split::kTrain), ElementsAre("d/cat/1.jpg"));
  for (const char* path : {"d", "e", "e/2.png", "list.txt"}) {
    EXPECT_TRUE(image_parts(folder_.path() / path).whole()) << path;
    for (const Split split : {Split::kValidation, Split::kTest}) {
      EXPECT_THAT(refusal(path, split), HasSubstr("data without parts")) << path;
    }
  }
}

TEST_F(OpenImages, ListsOfASplitAreADataSet) {
  put({"d/cat/1.jpg", "d/dog/2.jpg"});
  put_text("s/train.txt", "#classes\tcat\tdog\n../d/cat/1.jpg\tcat\n");
  put_text("s/val.txt", "#classes\tcat\tdog\n../d/dog/2.jpg\tdog\n");
  EXPECT_THAT(names("s", Split::kTrain), ElementsAre("d/cat/1.jpg"));
  EXPECT_THAT(names("s", Split::kValidation), ElementsAre("d/dog/2.jpg"));
  const auto source = open_images(folder_.path() / "s", Split::kValidation, {}, "");
  EXPECT_THAT(source->class_names(), ElementsAre("cat", "dog"));
  put_text("s/test.txt", "#classes\tcat\tdog\n../d/cat/1.jpg\tcat\n");
  EXPECT_THAT(names("s", Split::kTest), ElementsAre("d/cat/1.jpg"));
  std::filesystem::remove(folder_.path() / "s/val.txt");
  EXPECT_EQ(image_parts(folder_.path() / "s"), (DataParts{.validation = false, .test = true}));
}

}  // namespace
}  // namespace stoker::detail

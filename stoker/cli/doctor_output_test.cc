#include "stoker/cli/doctor_output.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "stoker/core/test_files.h"
#include "stoker/image/png.h"
#include "stoker/image/test_images.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;

class DoctorOutputTest : public ::testing::Test {
 protected:
  void add(const std::string& path, std::uint64_t seed) {
    std::filesystem::create_directories((folder_.path() / path).parent_path());
    write_png(folder_.path() / path,
              test::random_image({.height = 200, .width = 400, .channels = 3}, seed).view());
  }
  [[nodiscard]] Diagnosis diagnosis() const { return diagnose(folder_.path(), {}); }
  TempFolder folder_;
};

TEST_F(DoctorOutputTest, JsonCountsAndNamesAllFindings) {
  add("a/1.png", 1);
  add("a/2.png", 1);
  add("b/3.png", 2);
  folder_.write("b/bad\xFF.png", {1});
  const auto json = nlohmann::json::parse(doctor_json(diagnosis()));
  EXPECT_EQ(json["images"], 4);
  EXPECT_EQ(json["summary"], (nlohmann::json{{"error", 1}, {"warning", 1}, {"note", 0}}));
  EXPECT_EQ(json["counts"], (nlohmann::json{{"unreadable", 1}, {"duplicate", 1}}));
  EXPECT_EQ(json["parts"][0]["classes"][0], (nlohmann::json{{"name", "a"}, {"images", 2}}));
  EXPECT_EQ(json["findings"][0]["paths"][0], "b/bad\uFFFD.png");
  EXPECT_EQ(json["findings"][1]["severity"], "warning");
  EXPECT_THAT(json["findings"][1]["paths"], ElementsAre("a/1.png", "a/2.png"));
}

TEST_F(DoctorOutputTest, PageHasThumbnailsAndClasses) {
  add("train/a/1.png", 1);
  add("train/a/2.png", 1);
  add("train/b/3.png", 2);
  add("test/a/4.png", 3);
  const DoctorPage page = make_doctor_page(diagnosis(), {}, "all.json");
  ASSERT_EQ(page.classes.size(), 2U);
  EXPECT_THAT(page.classes[0].counts, ElementsAre(2, 1));
  EXPECT_THAT(page.part_images, ElementsAre(3, 1));
  ASSERT_EQ(page.sections.size(), 2U);  // the duplicate and the class that test lacks
  ASSERT_EQ(page.sections[0].findings.size(), 1U);
  const PageImage& image = page.sections[0].findings[0].images[1];
  EXPECT_EQ(image.path, "train/a/2.png");
  EXPECT_EQ(image.thumbnail.shape(), (ImageShape{.height = 80, .width = 160, .channels = 3}));
  EXPECT_EQ(image.caption.substr(0, 23), "train, a, 400x200 PNG, ");
  EXPECT_THAT(page.sections[1].plain, ElementsAre("train/b: test has no class of this name"));
}

TEST_F(DoctorOutputTest, PageIsBoundedAndSaysWhatIsOmitted) {
  add("a/good.png", 1);
  for (int i = 0; i < 150; ++i) folder_.write("a/" + std::to_string(i) + ".png", {1});
  const DoctorPage page = make_doctor_page(diagnosis(), {}, "");
  const PageSection& section = page.sections.at(0);
  EXPECT_EQ(section.count, 150U);
  EXPECT_EQ(section.findings.size(), 24U);
  EXPECT_EQ(section.plain.size(), 100U);
  EXPECT_EQ(section.omitted, 26U);
}

TEST_F(DoctorOutputTest, ListIsRelativeToItsFolder) {
  add("data/a/1.png", 1);
  add("data/b/2.png", 2);
  const Diagnosis found = diagnose(folder_.path() / "data", {});
  EXPECT_EQ(make_clean_list(found, folder_.path() / "clean.tsv").text,
            "data/a/1.png\ta\ndata/b/2.png\tb\n");
  EXPECT_EQ(make_clean_list(found, folder_.path() / "lists" / "clean.tsv").text,
            "../data/a/1.png\ta\n../data/b/2.png\tb\n");
}

TEST_F(DoctorOutputTest, ListOmitsNamesThatWouldBreakIt) {
  add("a/1.png", 1);
  add("a/tab\there.png", 2);
  add("a/line\nbreak.png", 3);
  const CleanList list = make_clean_list(diagnosis(), folder_.path() / "clean.tsv");
  EXPECT_EQ(list.text, "a/1.png\ta\n");
  EXPECT_EQ(list.images, 1U);
  EXPECT_EQ(list.unnamable, 2U);
}

TEST_F(DoctorOutputTest, ListOfAFolderWithoutClassesHasPathsOnly) {
  add("1.png", 1);
  EXPECT_EQ(make_clean_list(diagnosis(), folder_.path() / "clean.tsv").text, "1.png\n");
}

}  // namespace
}  // namespace stoker

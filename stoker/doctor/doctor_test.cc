#include "stoker/doctor/doctor.h"

#include <gmock/gmock.h>

#include "stoker/data/test_images.h"
#include "stoker/doctor/test_findings.h"

namespace stoker {
namespace {

using test::findings_of;
using test::scene;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DoctorTest : public ::testing::Test {
 protected:
  // A scene of its own for each call.
  void add(const std::string& path) { add(path, scene(++seed_)); }
  void add(const std::string& path, const Image& image) { add(path, test::png_of(image)); }
  void add(const std::string& path, const Bytes& bytes) { folder_.write(path, bytes); }
  void add_class(const std::string& name, int count) {
    for (int i = 0; i < count; ++i) add(name + "/" + std::to_string(i) + ".png");
  }
  [[nodiscard]] Diagnosis diagnosis() const { return diagnose(folder_.path(), options_); }
  [[nodiscard]] std::vector<std::string> findings() const { return findings_of(diagnosis()); }
  [[nodiscard]] std::string detail() const { return diagnosis().findings.at(0).detail; }

  TempFolder folder_;
  DoctorOptions options_;
  std::uint64_t seed_ = 100;
};

TEST_F(DoctorTest, AHealthyFolderHasNoFindings) {
  for (const char* name :
       {"train/cat", "train/dog", "val/cat", "val/dog", "test/cat", "test/dog"}) {
    add_class(name, 4);
  }
  const Diagnosis found = diagnosis();
  EXPECT_THAT(findings_of(found), IsEmpty());
  ASSERT_EQ(found.parts.size(), 3U);
  EXPECT_EQ(found.parts[1].name, "validation");
  EXPECT_EQ(found.parts[1].folder, "val/");
  EXPECT_EQ(found.images.size(), 24U);
  EXPECT_EQ(found.images[0].path, "train/cat/0.png");
  EXPECT_EQ(class_name_of(found, found.images[23]), "dog");
}

TEST_F(DoctorTest, FilesThatCannotBeDecodedAreErrors) {
  add_class("a", 3);
  Bytes cut = test::make_jpeg(64, 64, {});
  cut.resize(cut.size() - 20);
  add("a/cut.jpg", cut);
  add("a/empty.png", Bytes{});
  EXPECT_THAT(findings(), ElementsAre("unreadable: a/empty.png", "truncated: a/cut.jpg"));
  EXPECT_EQ(detail(), "an empty file");
}

TEST_F(DoctorTest, ShardsAreNamedForWhatTheyAre) {
  add("train/manifest.tsv", Bytes{'#'});
  const ErrorDetails error = error_of([&] { static_cast<void>(diagnosis()); });
  EXPECT_THAT(error.what, HasSubstr("shards"));
  EXPECT_THAT(error.found, HasSubstr("train/manifest.tsv"));
}

TEST_F(DoctorTest, LargeImagesAreErrors) {
  add("a/fits.png", scene(1, 100, 80));
  add("a/large.png", scene(2, 100, 81));
  options_.limits.max_pixels = 8000;
  EXPECT_THAT(findings(), ElementsAre("too_large: a/large.png"));
}

TEST_F(DoctorTest, TheExtensionMustBeThatOfTheContent) {
  add("a/right.JPEG", test::make_jpeg(64, 64, {}));
  add("a/wrong.jpg");
  add("a/x.webp", test::make_jpeg(64, 60, {.progressive = true}));
  options_.near_distance = -1;
  EXPECT_THAT(findings(), ElementsAre("wrong_extension: a/wrong.jpg", "wrong_extension: a/x.webp"));
  EXPECT_EQ(detail(), "named .jpg but is PNG");
}

TEST_F(DoctorTest, CmykAndTransparencyAreReported) {
  add_class("a", 3);
  add("a/cmyk.jpg", test::make_jpeg(64, 64, {.channels = 4, .h = 1, .v = 1}));
  add("a/glass.webp", test::make_webp(64, 48, true, 4));
  options_.near_distance = -1;  // both show the same pattern
  EXPECT_THAT(findings(), ElementsAre("cmyk: a/cmyk.jpg", "transparency: a/glass.webp"));
}

TEST_F(DoctorTest, WhicheverOfGreyAndColourIsRareIsNoted) {
  add_class("a", 3);
  add("a/grey.png", scene(1, 64, 64, 1));
  EXPECT_THAT(findings(), ElementsAre("mixed_colour: a/grey.png"));
  EXPECT_EQ(detail(), "grey, among 3 in colour");
  for (std::uint64_t i = 2; i < 6; ++i) {
    add("a/more" + std::to_string(i) + ".png", scene(i, 64, 64, 1));
  }
  EXPECT_THAT(findings(), ElementsAre("mixed_colour: a/0.png", "mixed_colour: a/1.png",
                                      "mixed_colour: a/2.png"));
}

TEST_F(DoctorTest, SizesAtTheLimitsPass) {
  add("a/small.png", scene(1, 32, 32));
  add("a/tiny.png", scene(2, 40, 31));
  add("a/long.png", scene(3, 160, 40));
  add("a/longer.png", scene(4, 40, 161));
  EXPECT_THAT(findings(), ElementsAre("tiny: a/tiny.png", "elongated: a/longer.png"));
  options_.min_side = 0;
  options_.max_ratio = 5;
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(DoctorTest, BlankImagesAreReportedButLookLikeNothing) {
  add_class("a", 2);
  add("a/black.png", Image({.height = 50, .width = 50, .channels = 3}));
  add("a/grey.png", test::changed(scene(1), 0, 128));
  EXPECT_THAT(findings(), ElementsAre("blank: a/black.png", "blank: a/grey.png"));
}

TEST_F(DoctorTest, ClassesWithoutImagesAreErrors) {
  add_class("a", 2);
  add("b/bad.png", Bytes{1, 2, 3});
  std::filesystem::create_directories(folder_.path() / "c");
  EXPECT_THAT(findings(), ElementsAre("unreadable: b/bad.png", "empty_class: b", "empty_class: c"));
}

TEST_F(DoctorTest, ClassesOfOnePartOnlyAreReported) {
  for (const char* name : {"train/a", "train/b", "train/c", "val/a", "val/b", "val/d"}) {
    add_class(name, 2);
  }
  EXPECT_THAT(findings(), ElementsAre("unknown_class: val/d", "missing_class: train/c"));
}

TEST_F(DoctorTest, ATestPartWithoutClassesIsForPrediction) {
  add_class("train/a", 2);
  add_class("train/b", 2);
  add("test/1.png");
  add("test/2.png");
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(DoctorTest, ImbalanceIsReportedBeyondTheLimit) {
  add_class("a", 20);
  add_class("b", 2);
  EXPECT_THAT(findings(), IsEmpty());
  add("a/one_more.png");
  EXPECT_THAT(findings(), ElementsAre("imbalance: b a"));
  EXPECT_THAT(detail(), HasSubstr("2 images of b and 21 of a"));
}

TEST_F(DoctorTest, IgnoredFilesTestAreNoted) {
  add_class("a", 2);
  add("a/Thumbs.db", Bytes{1});
  add("a/.hidden.png", Bytes{1});
  add("a/notes.txt", Bytes{1});
  EXPECT_THAT(findings(), ElementsAre("ignored: a/.hidden.png", "ignored: a/Thumbs.db",
                                      "ignored: a/notes.txt"));
}

TEST_F(DoctorTest, ImagesBesideTheClassFoldersAreReported) {
  add_class("a", 2);
  add("forgotten.PNG");
  add(".cover.png");
  EXPECT_THAT(findings(), ElementsAre("stray_image: forgotten.PNG", "ignored: .cover.png"));
}

TEST_F(DoctorTest, WorkersDoNotChangeTheResult) {
  add_class("a", 12);
  add_class("b", 12);
  add("a/same.png", scene(1));
  add("b/same.png", scene(1));
  add("b/bad.png", Bytes{9});
  const Diagnosis one = diagnosis();
  EXPECT_THAT(findings_of(one),
              ElementsAre("unreadable: b/bad.png", "two_labels: a/same.png b/same.png"));
  for (const int workers : {2, 3, 8, 100}) {
    options_.workers = workers;
    EXPECT_EQ(diagnosis().findings, one.findings) << workers;
  }
}

TEST_F(DoctorTest, ProgressEndsWithAllFiles) {
  add_class("a", 5);
  std::uint64_t last = 0, all = 0;
  options_.workers = 2;
  options_.progress = [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_GE(done, last);
    last = done, all = total;
  };
  (void)diagnosis();
  EXPECT_EQ(last, 5U);
  EXPECT_EQ(all, 5U);
}

TEST(FindingTraits, KindsComeWithTheGravestFirstAndSayWhatToDo) {
  for (std::size_t k = 0; k < kFindingKinds; ++k) {
    const FindingTraits& traits = traits_of(static_cast<FindingKind>(k));
    EXPECT_FALSE(traits.name.empty() || traits.title.empty() || traits.advice.empty()) << k;
    if (k == 0) continue;
    EXPECT_LE(traits.severity, traits_of(static_cast<FindingKind>(k - 1)).severity) << traits.name;
  }
  EXPECT_EQ(traits_of(FindingKind::kIgnored).name, "ignored");
  EXPECT_EQ(traits_of(FindingKind::kNearDuplicate).name, "near_duplicate");
  EXPECT_EQ(traits_of(FindingKind::kWrongExtension).name, "wrong_extension");
}

}  // namespace
}  // namespace stoker

// Images that are the same or look alike, and the clean list that follows.
#include <gmock/gmock.h>

#include "stoker/data/test_images.h"
#include "stoker/doctor/doctor.h"
#include "stoker/doctor/test_findings.h"

namespace stoker {
namespace {

using test::findings_of;
using test::scene;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DoctorGroupsTest : public ::testing::Test {
 protected:
  void add(const std::string& path, const Image& image) {
    folder_.write(path, test::png_of(image));
  }
  [[nodiscard]] Diagnosis diagnosis() const { return diagnose(folder_.path(), options_); }
  [[nodiscard]] std::vector<std::string> findings() const { return findings_of(diagnosis()); }
  [[nodiscard]] std::vector<std::string> clean() const {
    const Diagnosis found = diagnosis();
    std::vector<std::string> paths;
    for (const std::size_t i : clean_images(found)) paths.push_back(found.images[i].path);
    return paths;
  }

  TempFolder folder_;
  DoctorOptions options_;
};

TEST_F(DoctorGroupsTest, CopiesInOneClassAreDuplicatesOfWhichOneStays) {
  for (const char* path : {"a/1.png", "a/2.png", "a/deep/3.png"}) add(path, scene(1));
  add("b/4.png", scene(2));
  EXPECT_THAT(findings(), ElementsAre("duplicate: a/1.png a/2.png a/deep/3.png"));
  EXPECT_EQ(diagnosis().findings[0].detail, "the same bytes");
  EXPECT_THAT(clean(), ElementsAre("a/1.png", "b/4.png"));
}

TEST_F(DoctorGroupsTest, EqualPixelsInTwoFormatsAreDuplicates) {
  const Bytes webp = test::make_webp(64, 48, true);
  folder_.write("a/1.webp", webp);
  add("a/2.png", test::decode_all(webp));
  EXPECT_THAT(findings(), ElementsAre("duplicate: a/1.webp a/2.png"));
  EXPECT_EQ(diagnosis().findings[0].detail, "the same pixels, stored differently");
}

TEST_F(DoctorGroupsTest, OneImageUnderTwoLabelsIsAnErrorAndNoneStays) {
  add("a/1.png", scene(1));
  add("b/1.png", scene(1));
  add("b/2.png", scene(2));
  EXPECT_THAT(findings(), ElementsAre("two_labels: a/1.png b/1.png"));
  EXPECT_EQ(diagnosis().findings[0].detail, "the same bytes, labelled a and b");
  EXPECT_THAT(clean(), ElementsAre("b/2.png"));
}

TEST_F(DoctorGroupsTest, OneImageInTwoPartsIsALeakAndLeavesTrain) {
  add("train/a/1.png", scene(1));
  add("train/a/2.png", scene(2));
  add("test/a/x.png", scene(1));
  EXPECT_THAT(findings(), ElementsAre("leak: test/a/x.png train/a/1.png"));
  EXPECT_THAT(clean(), ElementsAre("train/a/2.png"));
}

TEST_F(DoctorGroupsTest, APartWithoutLabelsLeaksToo) {
  add("train/a/1.png", scene(1));
  add("train/b/2.png", scene(2));
  add("test/x.png", scene(1));
  add("test/y.png", scene(3));
  EXPECT_THAT(findings(), ElementsAre("leak: test/x.png train/a/1.png"));
}

TEST_F(DoctorGroupsTest, TwoLabelsInTwoPartsAreTwoFindings) {
  add("train/b/2.png", scene(2));
  add("test/a/3.png", scene(3));
  add("train/a/1.png", scene(1));
  add("test/b/1.png", scene(1));
  EXPECT_THAT(findings(), ElementsAre("two_labels: test/b/1.png train/a/1.png",
                                      "leak: test/b/1.png train/a/1.png"));
}

TEST_F(DoctorGroupsTest, AlikeImagesAreNotedAndStay) {
  add("a/1.png", scene(1, 200, 150));
  add("a/2.png", test::resized(scene(1, 200, 150), 100, 80));
  add("a/3.png", test::changed(scene(1, 200, 150), 80, 20));
  add("a/4.png", scene(2));
  EXPECT_THAT(findings(), ElementsAre("near_duplicate: a/1.png a/2.png a/3.png"));
  EXPECT_THAT(clean(), ElementsAre("a/1.png", "a/2.png", "a/3.png", "a/4.png"));
  options_.near_distance = -1;
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(DoctorGroupsTest, AlikeImagesAcrossLabelsAndPartsAreWarnings) {
  add("train/a/1.png", scene(1, 200, 150));
  add("train/b/1.png", test::resized(scene(1, 200, 150), 100, 80));
  add("train/a/2.png", scene(2, 200, 150));
  add("test/a/2.png", test::resized(scene(2, 200, 150), 100, 80));
  add("test/b/3.png", scene(3));
  EXPECT_THAT(findings(), ElementsAre("near_two_labels: train/a/1.png train/b/1.png",
                                      "near_leak: test/a/2.png train/a/2.png"));
}

// A copy of one of two alike images belongs to both findings.
TEST_F(DoctorGroupsTest, CopiesJoinTheirAlikes) {
  add("a/1.png", scene(1, 200, 150));
  add("a/2.png", scene(1, 200, 150));
  add("a/3.png", test::resized(scene(1, 200, 150), 100, 80));
  EXPECT_THAT(findings(),
              ElementsAre("duplicate: a/1.png a/2.png", "near_duplicate: a/1.png a/2.png a/3.png"));
}

TEST_F(DoctorGroupsTest, MirroredImagesCountOnlyWhenAsked) {
  add("a/1.png", scene(1));
  add("a/2.png", test::mirrored(scene(1)));
  add("a/3.png", scene(2));
  EXPECT_THAT(findings(), IsEmpty());
  options_.mirrored = true;
  EXPECT_THAT(findings(), ElementsAre("near_duplicate: a/1.png a/2.png"));
}

TEST_F(DoctorGroupsTest, ManyFramesOfOneSceneAreOneFinding) {
  for (int i = 0; i < 60; ++i) {
    add("a/" + std::to_string(100 + i) + ".png", test::changed(scene(1), 100 - i / 2, i / 2));
  }
  const Diagnosis found = diagnosis();
  std::size_t alike = 0;
  for (const Finding& finding : found.findings) {
    if (finding.kind == FindingKind::kNearDuplicate) alike = std::max(alike, finding.paths.size());
  }
  EXPECT_EQ(alike, 60U);
}

TEST_F(DoctorGroupsTest, UnreadableFilesAreNotDuplicatesOfEachOther) {
  add("a/1.png", scene(1));
  folder_.write("a/2.png", {});
  folder_.write("a/3.png", {});
  EXPECT_THAT(findings(), ElementsAre("unreadable: a/2.png", "unreadable: a/3.png"));
  EXPECT_THAT(clean(), ElementsAre("a/1.png"));
}

}  // namespace
}  // namespace stoker

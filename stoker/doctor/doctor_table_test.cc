// The doctor on tables: lines, parts, several classes, numbers.
#include <fmt/format.h>
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

class DoctorTable : public ::testing::Test {
 protected:
  DoctorTable() {
    for (int i = 0; i < 8; ++i) {
      folder_.write(fmt::format("{}.png", i), test::png_of(scene(static_cast<unsigned>(i) + 1)));
    }
    folder_.write("copy.png", contents_of(folder_.path() / "1.png"));
  }
  Diagnosis diagnosis(const std::string& text, const TableColumns& columns = {}) const {
    DoctorOptions options;
    options.table = columns;
    return diagnose(folder_.write("t.csv", Bytes(text.begin(), text.end())), options);
  }

  TempFolder folder_;
};

TEST_F(DoctorTable, AHealthyTableHasNoFindings) {
  const Diagnosis found = diagnosis(
      "path,label,split\n0.png,a,train\n1.png,b,train\n2.png,a,val\n3.png,b,val\n4.png,b,test\n"
      "5.png,a,test\n");
  EXPECT_THAT(findings_of(found), IsEmpty());
  ASSERT_EQ(found.parts.size(), 3U);
  EXPECT_THAT(found.parts[1].class_names, ElementsAre("a", "b"));
  EXPECT_EQ(found.images[4].path, "4.png");
  EXPECT_EQ(found.images[4].line, 6U);
  EXPECT_EQ(class_name_of(found, found.images[4]), "b");
  EXPECT_GT(found.images[4].bytes, 100U);
  EXPECT_EQ(found.folder, folder_.path());
}

TEST_F(DoctorTable, MissingFilesAndTwoLabelsHaveTheirLines) {
  const Diagnosis found =
      diagnosis("path,label\n0.png,a\nnone.png,a\n1.png,a\n2.png,b\ncopy.png,b\n0.png,b\n");
  EXPECT_THAT(findings_of(found), ElementsAre("unreadable: none.png", "two_labels: 0.png 0.png",
                                              "two_labels: 1.png copy.png"));
  EXPECT_THAT(found.findings[0].lines, ElementsAre(3));
  EXPECT_THAT(found.findings[1].lines, ElementsAre(2, 7));
  EXPECT_THAT(found.findings[2].lines, ElementsAre(4, 6));
  EXPECT_EQ(found.findings[2].detail, "the same bytes, labelled a and b");
  ASSERT_EQ(clean_images(found).size(), 1U);
  EXPECT_EQ(found.images[clean_images(found)[0]].path, "2.png");
}

TEST_F(DoctorTable, OfARowThatComesTwiceOneIsKept) {
  const Diagnosis found = diagnosis("path,label\n0.png,a\n2.png,b\n0.png,a\n");
  EXPECT_THAT(findings_of(found), ElementsAre("duplicate: 0.png 0.png"));
  EXPECT_THAT(found.findings[0].lines, ElementsAre(2, 4));
  EXPECT_THAT(clean_images(found), ElementsAre(0, 1));
}

TEST_F(DoctorTable, LeaksAndClassesOfPartsAreFound) {
  const Diagnosis found = diagnosis(
      "path,label,split\n0.png,a,train\n1.png,b,train\n2.png,a,test\ncopy.png,b,test\n"
      "3.png,c,test\n");
  EXPECT_THAT(findings_of(found), ElementsAre("leak: 1.png copy.png", "unknown_class: c"));
  EXPECT_EQ(found.findings[0].detail, "the same bytes, in test and train");
  EXPECT_THAT(found.findings[0].lines, ElementsAre(3, 5));
  EXPECT_THAT(clean_images(found), ElementsAre(0));
}

TEST_F(DoctorTable, SeveralClassesThatContradictAreTwoLabels) {
  const TableColumns tags{.labels = {"tags"}};
  const Diagnosis found = diagnosis("path,tags\n0.png,p;q\n1.png,q;p\n2.png,\ncopy.png,q\n", tags);
  EXPECT_THAT(findings_of(found), ElementsAre("two_labels: 1.png copy.png"));
  EXPECT_EQ(found.findings[0].detail, "the same bytes, labelled p;q and q");
  EXPECT_THAT(findings_of(diagnosis("path,tags\n1.png,q;p\ncopy.png,p;q\n", tags)),
              ElementsAre("duplicate: 1.png copy.png"));
}

TEST_F(DoctorTable, NumbersContradictOnlyForTheSameImage) {
  folder_.write("near.png", test::png_of(test::changed(scene(2), 100, 3)));  // like 1.png
  const TableColumns x{.targets = {"x", "y"}};
  const std::string text = "path,x,y\n0.png,1,2\n1.png,1.5,2\nnear.png,9,9\n";
  EXPECT_THAT(findings_of(diagnosis(text, x)), ElementsAre("near_duplicate: 1.png near.png"));
  const Diagnosis found = diagnosis(text + "copy.png,1.25,2\n", x);
  EXPECT_EQ(findings_of(found)[0], "two_labels: 1.png copy.png");
  EXPECT_EQ(found.findings[0].detail, "the same bytes, labelled x 1.25, y 2 and x 1.5, y 2");
}

TEST_F(DoctorTable, ATableWithoutLabelsIsExaminedToo) {
  EXPECT_THAT(findings_of(diagnosis("path\n0.png\nnone.png\n")),
              ElementsAre("unreadable: none.png"));
}

}  // namespace
}  // namespace stoker

#include "stoker/report/doctor_page.h"

#include <string>

#include <gmock/gmock.h>

namespace stoker {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++found;
  return found;
}

PageImage image(std::string path) {
  return {std::move(path), "train, daisy", Image({.height = 12, .width = 20, .channels = 3})};
}

DoctorPage small_page() {
  DoctorPage page;
  page.folder = "flowers";
  page.images = 30;
  page.part_names = {"train", "test"};
  page.part_images = {20, 10};
  page.classes = {{"daisy", {15, 5}}, {"iris", {5, 5}}};
  return page;
}

TEST(DoctorPage, NeedsNothingFromOutside) {
  DoctorPage page = small_page();
  page.sections = {{.title = "Tiny", .count = 1, .findings = {{"8x8", {image("a.jpg")}}}}};
  const std::string html = doctor_page(page);
  for (const char* word : {"http:", "https:", "<script", "<link", "url(", "@import"}) {
    EXPECT_THAT(html, Not(HasSubstr(word)));
  }
  EXPECT_EQ(count(html, "src="), count(html, "src=\"data:image/webp;base64,"));
  EXPECT_EQ(count(html, "<img "), 1U);
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
}

TEST(DoctorPage, EscapesEveryTextItIsGiven) {
  const std::string evil = "\"><script>alert(1)</script>";
  DoctorPage page = small_page();
  page.folder = page.all_findings_file = evil;
  page.part_names = {evil, evil};
  page.classes[0].name = evil;
  PageImage bad = image(evil);
  bad.caption = evil;
  page.sections = {{.title = evil,
                    .advice = evil,
                    .count = 9,
                    .findings = {{evil, {bad, bad}, {evil}, 1}},
                    .plain = {evil},
                    .omitted = 2}};
  const std::string html = doctor_page(page);
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr(evil)));
  EXPECT_GE(count(html, "&quot;&gt;&lt;script&gt;"), 15U);
}

TEST(DoctorPage, BarsAreSharesOfTheLargestClass) {
  const std::string html = doctor_page(small_page());
  EXPECT_THAT(html, HasSubstr("width:75.00%"));
  EXPECT_EQ(count(html, "width:25.00%"), 3U);
  EXPECT_THAT(html, HasSubstr("15 + 5"));
}

TEST(DoctorPage, SaysWhatIsNotShown) {
  DoctorPage page = small_page();
  page.classes_omitted = 7;
  page.all_findings_file = "doctor.json";
  page.sections = {{.title = "Left out", .count = 500, .plain = {"x.txt"}, .omitted = 499}};
  const std::string html = doctor_page(page);
  EXPECT_THAT(html, HasSubstr("7 more classes are not shown"));
  EXPECT_THAT(html, HasSubstr("and 499 more, all in doctor.json"));
}

TEST(DoctorPage, AnImageThatCannotBeShownLeavesABox) {
  DoctorPage page = small_page();
  PageImage missing{"cut.jpg", "", {}};
  page.sections = {{.severity = PageSeverity::kError,
                    .title = "Cut short",
                    .count = 1,
                    .findings = {{"the end is missing", {missing}}}}};
  const std::string html = doctor_page(page);
  EXPECT_EQ(count(html, "<img "), 0U);
  EXPECT_THAT(html, HasSubstr("cannot be shown"));
  EXPECT_THAT(html, HasSubstr("the end is missing"));
}

TEST(DoctorPage, CountsBySeverity) {
  DoctorPage page = small_page();
  page.sections = {{.severity = PageSeverity::kError, .title = "a", .count = 3},
                   {.severity = PageSeverity::kError, .title = "b", .count = 4},
                   {.severity = PageSeverity::kNote, .title = "c", .count = 2}};
  const std::string html = doctor_page(page);
  EXPECT_THAT(html, HasSubstr("<div class=\"tile error\"><b>7</b>"));
  EXPECT_THAT(html, HasSubstr("<div class=\"tile \"><b>0</b><span>warnings"));
  EXPECT_THAT(html, HasSubstr("<div class=\"tile note\"><b>2</b>"));
}

}  // namespace
}  // namespace stoker

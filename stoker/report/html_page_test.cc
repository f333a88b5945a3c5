#include "stoker/report/html_page.h"

#include <cmath>

#include <gtest/gtest.h>

#include "stoker/report/report_assets.h"
#include "stoker/report/test_text.h"

namespace stoker {
namespace {

using test::has;

TEST(HtmlPage, AllowsItsOwnScriptAndNothingElse) {
  const std::string head = page_head("title");
  EXPECT_TRUE(has(head,
                  "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
                  "script-src 'sha256-"));
  EXPECT_FALSE(has(head, "script-src 'unsafe-inline'"));
  // The script stands as it was hashed.
  EXPECT_TRUE(has(page_end(), "<script>" + std::string(report_script()) + "</script>"));
  EXPECT_EQ(report_script_sha256().size(), 64u);
}

TEST(HtmlPage, FetchesNothing) {
  const std::string page = page_head("t") + page_end();
  for (const char* word : {"https://", "src=", "@import", "url("}) {
    EXPECT_FALSE(has(page, word)) << word;
  }
}

TEST(HtmlPage, EscapesWhatItIsGiven) {
  const std::string evil = "</title><script>alert(1)</script>";
  EXPECT_FALSE(has(page_head(evil), evil));
  EXPECT_FALSE(has(tile(evil, evil), evil));
  EXPECT_FALSE(has(facts_html({{evil, evil}}), evil));
  const HtmlTable table{.label = evil, .columns = {evil}, .rows = {{text_cell(evil)}}};
  EXPECT_FALSE(has(table_html(table), evil));
  EXPECT_FALSE(has(image_html({.type = "\"><b>", .data = "\"><b>"}, "\"><b>"), "<b>"));
}

TEST(HtmlPage, CellsCarryWhatTheySortBy) {
  const HtmlTable table{
      .label = "t", .columns = {"n"}, .rows = {{number_cell(0.25, "25 %")}}, .best = {0}};
  EXPECT_TRUE(has(table_html(table), "data-v=\"0.25\">25 %"));
  EXPECT_TRUE(has(table_html(table), "<tr class=\"best\">"));
}

TEST(NumbersAsText, AreWhatAPersonReads) {
  EXPECT_EQ(percent_text(0.93124), "93.12 %");
  EXPECT_EQ(percent_text(std::nan("")), "–");
  EXPECT_EQ(number_text(INFINITY), "–");
  EXPECT_EQ(duration_text(1.25), "1.2 s");
  EXPECT_EQ(duration_text(200), "3 min 20 s");
  EXPECT_EQ(duration_text(7500), "2 h 5 min");
  EXPECT_EQ(count_text(60000), "60,000");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(count_text(-1234), "-1,234");
  EXPECT_EQ(count_text(-123), "-123");
}

}  // namespace
}  // namespace stoker

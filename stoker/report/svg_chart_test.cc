#include "stoker/report/svg_chart.h"

#include <cmath>

#include <gtest/gtest.h>

#include "stoker/report/test_text.h"

namespace stoker {
namespace {

using test::count;
using test::has;

TEST(SvgChart, HoldsTheValuesForTheScript) {
  const std::vector<ChartSeries> series = {{.name = "training", .x = {1, 2}, .y = {0.5, 0.25}}};
  const std::string chart = svg_chart(series, {.title = "Loss"});
  EXPECT_TRUE(has(chart, "data-x=\"1 2\" data-y=\"0.5 0.25\""));
  EXPECT_TRUE(has(chart, "aria-label=\"Loss\""));
  EXPECT_TRUE(has(chart, "<li class=\"c0\">training</li>"));
}

TEST(SvgChart, AGapInTheValuesIsAGapInTheLine) {
  const std::vector<ChartSeries> series = {
      {.name = "a", .x = {1, 2, 3, 4}, .y = {1, std::nan(""), 2, 3}}};
  const std::string chart = svg_chart(series, {});
  const std::size_t path = chart.find("<path d=\"");
  const std::string line = chart.substr(path, chart.find("\"/>", path) - path);
  EXPECT_EQ(count(line, "M"), 2u);
  EXPECT_EQ(count(line, "L"), 1u);
}

TEST(SvgChart, EscapesNamesAndTitles) {
  const std::vector<ChartSeries> series = {{.name = "<b>\"x\"", .x = {1, 2}, .y = {1, 2}}};
  const std::string chart =
      svg_chart(series, {.title = "<script>", .x_name = "\"><img>", .x_names = {"<i>", "b", "c"}});
  for (const char* markup : {"<b>", "<script>", "<img>", "<i>"}) EXPECT_FALSE(has(chart, markup));
}

TEST(SvgChart, ALonePointIsSeen) {
  const std::vector<ChartSeries> series = {{.name = "a", .x = {1}, .y = {2}}};
  EXPECT_EQ(count(svg_chart(series, {}), "<circle"), 1u);
}

TEST(SvgChart, WithoutAPointThereIsNoChart) {
  const std::vector<ChartSeries> series = {{.name = "a", .x = {1}, .y = {std::nan("")}}};
  EXPECT_EQ(svg_chart(series, {}), "");
  EXPECT_EQ(svg_chart({}, {}), "");
}

TEST(SvgChart, AWildValueOfAFaintLineDoesNotSetTheScale) {
  ChartSeries steps{.faint = true};
  for (int i = 0; i < 100; ++i) {
    steps.x.push_back(i);
    steps.y.push_back(i == 0 ? 4000 : 2);
  }
  const ChartSeries epochs{.name = "a", .x = {1, 99}, .y = {1, 3}};
  const std::vector<ChartSeries> faint = {steps, epochs};
  EXPECT_FALSE(has(svg_chart(faint, {}), ">4000</text>"));
  steps.faint = false;
  const std::vector<ChartSeries> strong = {steps, epochs};
  EXPECT_TRUE(has(svg_chart(strong, {}), ">4000</text>"));
}

TEST(SvgChart, SpreadsAreLinesFromLeastToGreatest) {
  const std::vector<ChartSeries> series = {
      {.name = "a", .x = {1, 2}, .y = {2, 3}, .low = {1, 3}, .high = {3, 3}}};
  EXPECT_EQ(count(svg_chart(series, {}), "class=\"spread\""), 1u);
}

TEST(SvgChart, PointsAreNotJoinedAndTellTheScriptNothing) {
  const std::vector<ChartSeries> series = {
      {.name = "samples", .x = {1, 2, 3}, .y = {1, std::nan(""), 2}, .points = true},
      {.name = "exact", .x = {1, 3}, .y = {1, 3}, .still = true}};
  const std::string chart = svg_chart(series, {});
  EXPECT_EQ(count(chart, "<circle"), 2u);
  EXPECT_EQ(count(chart, "<path"), 1u) << "the line alone";
  EXPECT_EQ(count(chart, "data-x=\"\""), 1u);
  EXPECT_EQ(count(chart, "<li "), 2u);
}

TEST(SvgChart, ValuesBelowTheFloorLeaveTheImageAtItsBottom) {
  const std::vector<ChartSeries> series = {{.name = "a", .x = {1, 2}, .y = {-100, 0.9}}};
  EXPECT_TRUE(has(svg_chart(series, {}), ">-100</text>"));
  const std::string cut = svg_chart(series, {.y_floor = 0});
  EXPECT_FALSE(has(cut, ">-"));
  EXPECT_TRUE(has(cut, ">0</text>"));
  EXPECT_TRUE(has(cut, "data-y=\"-100 0.9\"")) << "the pointer shows what it is";
}

TEST(SvgChart, LargeNumbersFitBesideTheAxis) {
  const std::vector<ChartSeries> series = {
      {.name = "a", .x = {0, 1e9}, .y = {0, 1.5e9}, .points = true}};
  const std::string chart = svg_chart(series, {});
  EXPECT_TRUE(has(chart, ">1.5e+09</text>"));
  EXPECT_FALSE(has(chart, "00000</text>"));
}

}  // namespace
}  // namespace stoker

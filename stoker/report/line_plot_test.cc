#include "stoker/report/line_plot.h"

#include <climits>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/report/test_pages.h"

namespace stoker {
namespace {

using test::colour_at;
using test::count_colour;
using testing::HasSubstr;
using Series = std::vector<PlotSeries>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Colour kFirst{0, 114, 178};
constexpr Colour kSecond{213, 94, 0};

Colour colour_near(const Image& page, const Point& point) {
  return colour_at(page, static_cast<int>(std::floor(point.x)),
                   static_cast<int>(std::floor(point.y)));
}

Series one(std::vector<double> x, std::vector<double> y, const std::string& name = "") {
  return {{name, std::move(x), std::move(y)}};
}

TEST(LinePlot, ALinePassesThroughItsPointsAndBetweenThem) {
  const Series series = one({0, 1, 3}, {0.1, 0.9, 0.3});
  const LinePlotOptions options{.markers = false};
  const Image page = line_plot(series, options);
  const PlotLayout layout = plan_line_plot(series, options);
  EXPECT_EQ(colour_near(page, layout.place(1, 0.9)), kFirst);
  EXPECT_EQ(colour_near(page, layout.place(0.5, 0.5)), kFirst);
  EXPECT_EQ(colour_near(page, layout.place(2, 0.6)), kFirst);
  EXPECT_NE(colour_near(page, layout.place(2, 0.7)), kFirst);
  EXPECT_NE(colour_near(page, layout.place(0.5, 0.9)), kFirst);
}

TEST(LinePlot, PointsThatAreNotJoinedStandAlone) {
  const Series series = {{"", {0, 1, 3}, {0.1, 0.9, 0.3}, /*joined=*/false}};
  const Image page = line_plot(series);
  const PlotLayout layout = plan_line_plot(series);
  EXPECT_EQ(colour_near(page, layout.place(1, 0.9)), kFirst);
  EXPECT_EQ(colour_near(page, layout.place(3, 0.3)), kFirst);
  EXPECT_NE(colour_near(page, layout.place(0.5, 0.5)), kFirst);
}

TEST(LinePlot, GreaterIsHigherAndFurtherRight) {
  const Series series = one({0, 10}, {0, 1});
  const PlotLayout layout = plan_line_plot(series);
  EXPECT_LT(layout.place(0, 1).y, layout.place(0, 0).y);
  EXPECT_LT(layout.place(0, 0).x, layout.place(10, 0).x);
  EXPECT_DOUBLE_EQ(layout.place(0, 1).y, layout.area.y);
  EXPECT_DOUBLE_EQ(layout.place(0, 0).y, layout.area.y + layout.area.height);
}

TEST(LinePlot, Log2GivesEachDoublingTheSameWidth) {
  const Series series = one({1, 2, 4, 8}, {8, 4, 2, 1});
  const PlotLayout layout = plan_line_plot(series, {.x_scale = AxisScale::kLog2});
  const double step = layout.place(2, 1).x - layout.place(1, 1).x;
  EXPECT_NEAR(layout.place(4, 1).x - layout.place(2, 1).x, step, 1e-9);
  EXPECT_NEAR(layout.place(8, 1).x - layout.place(4, 1).x, step, 1e-9);
  EXPECT_GT(step, 200);
}

TEST(LinePlot, NotANumberIsAGap) {
  for (const double gap : {kNaN, kInfinity, -kInfinity, 1e200}) {
    const Series series = one({0, 1, 2, 3, 4}, {0.5, 0.5, gap, 0.5, 0.5});
    const LinePlotOptions options{.markers = false};
    const Image page = line_plot(series, options);
    const PlotLayout layout = plan_line_plot(series, options);
    EXPECT_EQ(colour_near(page, layout.place(0.5, 0.5)), kFirst);
    EXPECT_NE(colour_near(page, layout.place(1.5, 0.5)), kFirst);
    EXPECT_NE(colour_near(page, layout.place(2.5, 0.5)), kFirst);
    EXPECT_EQ(colour_near(page, layout.place(3.5, 0.5)), kFirst);
  }
}

TEST(LinePlot, ALonePointIsVisible) {
  const Series series = one({0, 1, 2}, {0.2, kNaN, 0.8});
  const Image page = line_plot(series, {.markers = false});
  EXPECT_EQ(colour_near(page, plan_line_plot(series).place(2, 0.8)), kFirst);
  EXPECT_GT(count_colour(page, kFirst), 2 * 40);
}

TEST(LinePlot, ManyPointsHaveNoMarkers) {
  Series few = one({0, 1, 2}, {0, 0, 0});
  EXPECT_GT(count_colour(line_plot(few), kFirst),
            count_colour(line_plot(few, {.markers = false}), kFirst));
  Series many = one({}, {});
  for (int i = 0; i < 500; ++i) {
    many[0].x.push_back(i);
    many[0].y.push_back(0);
  }
  EXPECT_EQ(line_plot(many), line_plot(many, {.markers = false}));
}

TEST(LinePlot, SeriesDifferInColour) {
  const Series series = {{"a", {0, 1}, {1, 1}}, {"b", {0, 1}, {2, 2}}};
  const Image page = line_plot(series);
  const PlotLayout layout = plan_line_plot(series);
  EXPECT_EQ(colour_near(page, layout.place(0.5, 1)), kFirst);
  EXPECT_EQ(colour_near(page, layout.place(0.5, 2)), kSecond);
  // The legend shows both as well.
  const Rect legend{0, 0, page.shape().width, layout.area.y - 8};
  EXPECT_GT(count_colour(page, legend, kFirst), 30);
  EXPECT_GT(count_colour(page, legend, kSecond), 30);
}

TEST(LinePlot, AnEmptySeriesStandsInTheLegendAlone) {
  const Series series = {{"a", {0, 1}, {0, 1}}, {"b", {}, {}}, {"c", {1, 2}, {kNaN, kNaN}}};
  const Image page = line_plot(series);
  const PlotLayout layout = plan_line_plot(series);
  EXPECT_GT(count_colour(page, kSecond), 30);
  EXPECT_EQ(count_colour(page, layout.area, kSecond), 0);
}

TEST(LinePlot, WithoutAnyPointItSaysSo) {
  for (const AxisScale scale : {AxisScale::kLinear, AxisScale::kLog2}) {
    const Series series = one({1, 2}, {kNaN, kNaN});
    const Image page = line_plot(series, {.x_scale = scale});
    const PlotLayout layout = plan_line_plot(series, {.x_scale = scale});
    EXPECT_GT(count_colour(page, layout.area, {100, 110, 125}), 100);
    EXPECT_EQ(count_colour(page, kFirst), 0);
  }
}

TEST(LinePlot, TextStaysOutsideOfThePlot) {
  const std::string odd = "\xFF\xC3 \xF0\x9F\x94\xA5 \n" + std::string(3000, 'y');
  const Series series = {{odd, {0, 1}, {0.1234, 0.1236}}, {odd, {}, {}}};
  const LinePlotOptions options{.title = odd, .x_title = odd, .y_title = odd};
  const Image page = line_plot(series, options);
  const Rect area = plan_line_plot(series, options).area;
  EXPECT_EQ(count_colour(page, area, kInk), 0);
  EXPECT_EQ(count_colour(page, area, kPaleInk), 0);
  EXPECT_GT(count_colour(page, kInk), 500);
  EXPECT_TRUE(test::has_margin(page, 4));
}

TEST(LinePlot, WhatLiesBeyondTheGivenEndsIsCutOff) {
  const Series series = one({0, 1, 2, 3}, {0.5, 1e50, -1e50, 0.5});
  const LinePlotOptions options{.y_min = 0, .y_max = 1};
  const Image page = line_plot(series, options);
  const Rect area = plan_line_plot(series, options).area;
  EXPECT_GT(count_colour(page, area, kFirst), 100);
  const Rect with_line{area.x, area.y - 2, area.width, area.height + 4};
  EXPECT_EQ(count_colour(page, with_line, kFirst), count_colour(page, kFirst));
}

TEST(LinePlot, LinesAndMarksAtTheEndsAreWhole) {
  const Series series = one({0, 1, 2}, {1, 1, 1});
  for (const double y_min : {0.0, 1.0}) {
    const LinePlotOptions options{.y_min = y_min, .y_max = y_min + 1};
    const Image page = line_plot(series, options);
    const PlotLayout layout = plan_line_plot(series, options);
    const Point between = layout.place(0.5, 1);
    const Point mark = layout.place(1, 1);
    for (const int offset : {-1, 1}) {
      EXPECT_EQ(colour_near(page, {between.x, between.y + 0.5 * offset}), kFirst);
      EXPECT_EQ(colour_near(page, {mark.x, mark.y + 3.5 * offset}), kFirst);
    }
  }
}

TEST(LinePlot, IsTheSameEachTime) {
  const Series series = one({1, 2, 3, 5}, {0.3, 0.7, 0.1, 0.2}, "a");
  EXPECT_EQ(line_plot(series), line_plot(series));
}

TEST(LinePlot, TakesAnyFiniteValues) {
  constexpr double kLeast = std::numeric_limits<double>::denorm_min();
  for (const auto& [a, b] : std::vector<std::pair<double, double>>{
           {kLeast, 2 * kLeast}, {0, 1e100}, {-1e100, 1e100}, {1e15, 1e15 + 1}, {5, 5}}) {
    const Series series = one({a, b}, {a, b});
    EXPECT_GT(count_colour(line_plot(series), kFirst), 40) << a << " " << b;
  }
}

TEST(LinePlot, RefusesWrongInput) {
  EXPECT_THAT(message_of([] { return line_plot(Series{}); }), HasSubstr("at least one series"));
  EXPECT_THAT(message_of([] {
                return line_plot(one({1, 2}, {1}, "acc"));
              }),
              HasSubstr("\"acc\" lacks a coordinate. Expected 2 y, one for each x, got 1"));
  for (const double x : {0.0, -3.0}) {
    const LinePlotOptions options{.x_scale = AxisScale::kLog2};
    EXPECT_THAT(message_of([&] {
                  return line_plot(one({1, x}, {1, 1}), options);
                }),
                HasSubstr("Expected x greater than 0"));
  }
  EXPECT_THAT(message_of([] { return line_plot(one({1}, {1}), {.y_min = 3, .y_max = 2}); }),
              HasSubstr("must differ"));
}

TEST(LinePlot, RefusesSizesThatCannotBe) {
  const Series series = one({1}, {1}, "a");
  EXPECT_THAT(message_of([&] { return line_plot(series, {.width = 0}); }), HasSubstr("600x0"));
  EXPECT_THAT(message_of([&] { return line_plot(series, {.height = -5}); }), HasSubstr("-5x960"));
  EXPECT_THAT(message_of([&] { return line_plot(series, {.width = INT_MAX, .height = INT_MAX}); }),
              HasSubstr("too large"));
  EXPECT_THAT(message_of([&] { return line_plot(series, {.width = 1, .height = 1}); }),
              HasSubstr("no room"));
  const Series many(300, {"a name in the legend", {}, {}});
  EXPECT_THAT(message_of([&] { return line_plot(many); }), HasSubstr("fewer series"));
}

}  // namespace
}  // namespace stoker

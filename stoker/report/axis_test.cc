#include "stoker/report/axis.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/rng.h"

namespace stoker {
namespace {

using testing::ElementsAre;

std::vector<std::string> labels(const Axis& axis) {
  std::vector<std::string> texts;
  for (const Tick& tick : axis.ticks) texts.push_back(tick.label);
  return texts;
}

TEST(Axis, TicksAreAtRoundNumbers) {
  EXPECT_THAT(labels(make_axis(0, 1, {.most_ticks = 6})),
              ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1"));
  EXPECT_THAT(labels(make_axis(0.81, 0.88, {.most_ticks = 6})),
              ElementsAre("0.82", "0.84", "0.86", "0.88"));
  EXPECT_THAT(labels(make_axis(-30, 70, {.most_ticks = 6})),
              ElementsAre("-20", "0", "20", "40", "60"));
  EXPECT_THAT(labels(make_axis(0, 3e-5, {.most_ticks = 4})),
              ElementsAre("0", "1e-05", "2e-05", "3e-05"));
}

TEST(Axis, EndsAtTicksWhereAsked) {
  const Axis axis = make_axis(0.553, 0.879, {.most_ticks = 6, .round_ends = true});
  EXPECT_EQ(axis.low, 0.5);
  EXPECT_EQ(axis.high, 0.9);
  EXPECT_THAT(labels(axis), ElementsAre("0.5", "0.6", "0.7", "0.8", "0.9"));
}

TEST(Axis, WholeNumbersOnlyWhereAsked) {
  EXPECT_THAT(labels(make_axis(1, 4, {.most_ticks = 12})),
              ElementsAre("1", "1.5", "2", "2.5", "3", "3.5", "4"));
  EXPECT_THAT(labels(make_axis(1, 4, {.most_ticks = 12, .whole = true})),
              ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(labels(make_axis(1, 1, {.whole = true})), ElementsAre("1"));
}

TEST(Axis, GivenEndsStay) {
  const Axis axis = make_axis(3, 41, {.round_ends = true, .low = 0.0, .high = 37.5});
  EXPECT_EQ(axis.low, 0);
  EXPECT_EQ(axis.high, 37.5);
  EXPECT_EQ(axis.ticks.front().value, 0);
  EXPECT_LE(axis.ticks.back().value, 37.5);
  // One end alone, with all values on its wrong side.
  const Axis above = make_axis(3, 4, {.round_ends = true, .low = 10.0});
  EXPECT_EQ(above.low, 10);
  EXPECT_GT(above.high, 10);
}

TEST(Axis, RefusesEndsThatAreNone) {
  EXPECT_THROW((void)make_axis(0, 1, {.low = 2.0, .high = 1.0}), Error);
  EXPECT_THROW((void)make_axis(0, 1, {.low = 2.0, .high = 2.0}), Error);
  EXPECT_THROW((void)make_axis(0, 1, {.low = std::nan("")}), Error);
  EXPECT_THROW((void)make_axis(0, 1, {.high = std::numeric_limits<double>::infinity()}), Error);
  EXPECT_THROW((void)make_axis(0, std::nan(""), {}), InvariantError);
}

TEST(Axis, EqualValuesLieInTheMiddle) {
  for (const double value : {0.0, 5.0, -5.0, 1e-95, 1e90, -kMostPlotted, kMostPlotted}) {
    const Axis axis = make_axis(value, value, {});
    EXPECT_NEAR(axis.share(value), 0.5, 1e-6) << value;
    EXPECT_LT(axis.low, axis.high);
  }
}

TEST(Axis, HasFewTicksWithinItsEndsForAnyValues) {
  Rng rng({.seed = 11}, 0);
  for (int i = 0; i < 2000; ++i) {
    const auto size = static_cast<int>(rng.uniform_int(120)) - 60;
    const double a = (static_cast<double>(rng.uniform_int(2000)) - 1000) * std::ldexp(1.0, size);
    const double b = a + static_cast<double>(1 + rng.uniform_int(1000)) * std::ldexp(1.0, size);
    for (const bool round : {false, true}) {
      const Axis axis = make_axis(a, b, {.most_ticks = 5, .round_ends = round});
      EXPECT_LE(axis.low, a);
      EXPECT_GE(axis.high, b);
      ASSERT_GE(axis.ticks.size(), round ? 3u : 1u) << a << " to " << b;
      ASSERT_LE(axis.ticks.size(), 7u) << a << " to " << b;
      const double slack = 1e-5 * (axis.high - axis.low);
      EXPECT_GE(axis.ticks.front().value, axis.low - slack);
      EXPECT_LE(axis.ticks.back().value, axis.high + slack);
      for (const Tick& tick : axis.ticks) EXPECT_EQ(std::stod(tick.label), tick.value);
    }
  }
}

TEST(Axis, Log2HasPowersOfTwo) {
  const Axis axis = make_axis(1, 8, {.scale = AxisScale::kLog2});
  EXPECT_THAT(labels(axis), ElementsAre("1", "2", "4", "8"));
  EXPECT_EQ(axis.share(1), 0);
  EXPECT_DOUBLE_EQ(axis.share(2), 1.0 / 3);
  EXPECT_DOUBLE_EQ(axis.share(4), 2.0 / 3);
  EXPECT_EQ(axis.share(8), 1);
  EXPECT_THAT(labels(make_axis(0.3, 3, {.scale = AxisScale::kLog2})),
              ElementsAre("0.25", "0.5", "1", "2", "4"));
  EXPECT_THAT(labels(make_axis(4, 4, {.scale = AxisScale::kLog2})), ElementsAre("2", "4", "8"));
}

TEST(Axis, Log2OmitsTicksThatWouldBeTooMany) {
  const Axis axis = make_axis(1e-90, 1e90, {.scale = AxisScale::kLog2, .most_ticks = 8});
  EXPECT_GE(axis.ticks.size(), 4u);
  EXPECT_LE(axis.ticks.size(), 9u);
  EXPECT_EQ(axis.ticks.front().label, "2^-299");
}

TEST(Axis, Log2EqualsTheCLibrarysWithinRounding) {
  const Axis axis = make_axis(1, 1024, {.scale = AxisScale::kLog2});
  for (double value = 1; value <= 1024; value *= 1.037) {
    EXPECT_NEAR(axis.share(value), std::log2(value) / 10, 1e-15) << value;
  }
}

TEST(Axis, Log10HasPowersOfTen) {
  const Axis axis = make_axis(3e-6, 0.7, {.scale = AxisScale::kLog10});
  EXPECT_THAT(labels(axis), ElementsAre("1e-6", "1e-5", "1e-4", "0.001", "0.01", "0.1", "1"));
  EXPECT_DOUBLE_EQ(axis.share(1e-3), 0.5);
  EXPECT_THROW((void)make_axis(0, 8, {.scale = AxisScale::kLog10}), InvariantError);
}

TEST(Axis, Log2RefusesZero) {
  EXPECT_THROW((void)make_axis(0, 8, {.scale = AxisScale::kLog2}), InvariantError);
}

}  // namespace
}  // namespace stoker

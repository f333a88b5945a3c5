#include "stoker/kernels/warp/affine.h"

#include <cmath>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

TEST(Affine, SineAndCosineAreRightToTheLastDigits) {
  for (double degrees = -1000; degrees <= 1000; degrees += 0.37) {
    const auto [s, c] = sin_cos_degrees(degrees);
    EXPECT_NEAR(s, std::sin(degrees * std::numbers::pi / 180), 2e-15 + std::abs(degrees) * 1e-17);
    EXPECT_NEAR(c, std::cos(degrees * std::numbers::pi / 180), 2e-15 + std::abs(degrees) * 1e-17);
  }
}

TEST(Affine, QuarterTurnsAreExact) {
  for (int turn = -8; turn <= 8; ++turn) {
    const auto [s, c] = sin_cos_degrees(90 * turn);
    EXPECT_EQ(s, (turn & 1) == 0 ? 0 : ((turn & 3) == 1 ? 1 : -1)) << turn;
    EXPECT_EQ(c, (turn & 1) == 1 ? 0 : ((turn & 3) == 0 ? 1 : -1)) << turn;
  }
}

TEST(Affine, ComposingIsDoingOneAfterTheOther) {
  const Affine first = rotation(30, 5, 7), second = skewing(0.25);
  const Affine both = then(first, second);
  const double x = 3, y = 4;
  // The second operation's output looks at (x + y tilt, y) of the first one's.
  const double mid_x = x + 0.25 * y, mid_y = y;
  EXPECT_NEAR(both.xx * x + both.xy * y + both.x0, first.xx * mid_x + first.xy * mid_y + first.x0,
              1e-12);
  EXPECT_NEAR(both.yx * x + both.yy * y + both.y0, first.yx * mid_x + first.yy * mid_y + first.y0,
              1e-12);
}

TEST(Affine, CentreStaysWhereItIs) {
  for (const Affine& map : {rotation(33, 10, 20), scaling(1.7, 10, 20)}) {
    EXPECT_NEAR(map.xx * 10 + map.xy * 20 + map.x0, 10, 1e-12);
    EXPECT_NEAR(map.yx * 10 + map.yy * 20 + map.y0, 20, 1e-12);
  }
}

TEST(Affine, RefusesWhatFixedPointCannotHold) {
  EXPECT_THROW(static_cast<void>(to_fixed({.xx = std::numeric_limits<double>::quiet_NaN()})),
               Error);
  EXPECT_THROW(static_cast<void>(to_fixed({.x0 = 0x1p31})), Error);
  EXPECT_THROW(static_cast<void>(to_fixed({.xx = 0x1p26})), Error);
  EXPECT_EQ(to_fixed({}).xx, 1 << 16);
}

}  // namespace
}  // namespace stoker

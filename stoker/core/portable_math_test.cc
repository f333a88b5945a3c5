#include "stoker/core/portable_math.h"

#include <cmath>

#include <gtest/gtest.h>

#include "stoker/core/rng.h"

namespace stoker {
namespace {

TEST(PortableLog, IsTheLogarithmToTheLastBits) {
  Rng rng({.seed = 1}, 0);
  for (int i = 0; i < 100'000; ++i) {
    const double x = std::ldexp(1 + rng.uniform(), static_cast<int>(rng.uniform_int(120)) - 60);
    const double expected = std::log(x);
    ASSERT_LE(std::abs(portable_log(x) - expected), 1e-15 * std::abs(expected) + 1e-17) << x;
  }
  EXPECT_EQ(portable_log(1), 0);
}

TEST(PortableLog, TakesTheSmallestAndTheLargestNumbers) {
  for (const double x : {5e-324, 1e-310, 0x1p-53, 1e308}) {
    EXPECT_NEAR(portable_log(x) / std::log(x), 1, 1e-15) << x;
  }
}

TEST(PortableExp, IsTheExponentialToTheLastBits) {
  Rng rng({.seed = 2}, 0);
  for (int i = 0; i < 100'000; ++i) {
    const double x = rng.uniform(-100, 100);
    ASSERT_LE(std::abs(portable_exp(x) / std::exp(x) - 1), 1e-15) << x;
  }
  EXPECT_EQ(portable_exp(0), 1);
}

TEST(PortableExp, StaysFiniteFarOut) {
  EXPECT_EQ(portable_exp(-1e9), 0);
  EXPECT_EQ(portable_exp(-HUGE_VAL), 0);
  EXPECT_TRUE(std::isfinite(portable_exp(1e9)));
}

}  // namespace
}  // namespace stoker

#include "stoker/core/distributions.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace stoker {
namespace {

constexpr int kDrawsOfDistribution = 200'000;

struct Moments {
  double mean = 0, variance = 0;
};
template <class Draw>
Moments moments(std::uint64_t seed, Draw draw) {
  Rng rng({.seed = seed}, 0);
  double sum = 0, squares = 0;
  for (int i = 0; i < kDrawsOfDistribution; ++i) {
    const double x = draw(rng);
    sum += x;
    squares += x * x;
  }
  const double mean = sum / kDrawsOfDistribution;
  return {.mean = mean, .variance = squares / kDrawsOfDistribution - mean * mean};
}

TEST(DrawNormal, HasTheRightShape) {
  const Moments m = moments(1, draw_normal);
  EXPECT_NEAR(m.mean, 0, 5 / std::sqrt(kDrawsOfDistribution));
  EXPECT_NEAR(m.variance, 1, 5 * std::sqrt(2.0 / kDrawsOfDistribution));
  const Moments tail = moments(2, [](Rng& rng) { return draw_normal(rng) > 1.959964 ? 1.0 : 0.0; });
  EXPECT_NEAR(tail.mean, 0.025, 5 * std::sqrt(0.025 / kDrawsOfDistribution));
}

TEST(DrawNormal, TwoAreIndependentAndTheFirstIsTheSingleOne) {
  const Moments second = moments(3, [](Rng& rng) { return draw_two_normals(rng)[1]; });
  EXPECT_NEAR(second.mean, 0, 5 / std::sqrt(kDrawsOfDistribution));
  EXPECT_NEAR(second.variance, 1, 5 * std::sqrt(2.0 / kDrawsOfDistribution));
  const Moments product = moments(4, [](Rng& rng) {
    const auto [a, b] = draw_two_normals(rng);
    return a * b;
  });
  EXPECT_NEAR(product.mean, 0, 5 / std::sqrt(kDrawsOfDistribution));
  EXPECT_NEAR(product.variance, 1, 5 * std::sqrt(8.0 / kDrawsOfDistribution));
  Rng one({.seed = 5}, 0), two({.seed = 5}, 0);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(draw_normal(one), draw_two_normals(two)[0]);
}

TEST(DrawLogGamma, HasMeanAndVarianceOfItsShape) {
  for (const double shape : {0.3, 1.0, 2.5, 20.0}) {
    const Moments m =
        moments(3, [shape](Rng& rng) { return std::exp(draw_log_gamma(rng, shape)); });
    EXPECT_NEAR(m.mean, shape, 6 * std::sqrt(shape / kDrawsOfDistribution)) << shape;
    EXPECT_NEAR(m.variance, shape, 0.05 * shape) << shape;
  }
}

TEST(DrawBeta, HasMeanAndVarianceOfItsParameters) {
  for (const double a : {0.1, 0.2, 0.8, 1.0, 3.0}) {
    for (const double b : {0.2, 1.0, 4.0}) {
      const Moments m = moments(4, [&](Rng& rng) { return draw_beta(rng, a, b); });
      const double mean = a / (a + b), variance = mean * b / (a + b) / (a + b + 1);
      EXPECT_NEAR(m.mean, mean, 6 * std::sqrt(variance / kDrawsOfDistribution)) << a << " " << b;
      EXPECT_NEAR(m.variance, variance, 0.03 * variance) << a << " " << b;
    }
  }
}

// Kolmogorov and Smirnov's distance from the even distribution, which Beta(1, 1) is.
TEST(DrawBeta, OfOneAndOneIsUniform) {
  Rng rng({.seed = 5}, 0);
  std::vector<double> draws(kDrawsOfDistribution);
  for (double& draw : draws) draw = draw_beta(rng, 1, 1);
  std::sort(draws.begin(), draws.end());
  double distance = 0;
  for (int i = 0; i < kDrawsOfDistribution; ++i) {
    distance = std::max(distance, std::abs(draws[i] - (i + 0.5) / kDrawsOfDistribution));
  }
  EXPECT_LE(distance,
            1.95 / std::sqrt(kDrawsOfDistribution));  // passed by chance but one time in a thousand
}

TEST(DrawBeta, WithTinyParametersStaysANumber) {
  Rng rng({.seed = 6}, 0);
  int low = 0;
  for (int i = 0; i < 1000; ++i) {
    const double x = draw_beta(rng, 0.001, 0.001);
    ASSERT_TRUE(x >= 0 && x <= 1) << x;
    low += x < 0.5;
  }
  EXPECT_NEAR(low, 500, 80);
}

// Numbers that must never change: what a seed means, on every machine.
TEST(Distributions, GiveTheseNumbers) {
  Rng rng({.seed = 7}, 0);
  EXPECT_EQ(draw_normal(rng), 0x1.7dc9c9290fce3p-3);
  EXPECT_EQ(draw_log_gamma(rng, 0.5), -0x1.d4e7ee4562c4dp+0);
  EXPECT_EQ(draw_beta(rng, 0.2, 0.2), 0x1.35b5a50257bb7p-3);
}

}  // namespace
}  // namespace stoker

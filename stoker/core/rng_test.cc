#include "stoker/core/rng.h"

#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(Rng, GivesTheSameNumbersForTheSameKey) {
  Rng a({.seed = 1, .epoch = 2, .sample = 3}, 4);
  Rng b({.seed = 1, .epoch = 2, .sample = 3}, 4);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(a.next_u32(), b.next_u32());
}

TEST(Rng, EveryPartOfTheKeyMakesAnotherStream) {
  const SampleKey base{.seed = 7, .epoch = 7, .sample = 7};
  std::set<std::uint64_t> first;
  first.insert(Rng(base, 0).next_u64());
  first.insert(Rng(base, 1).next_u64());
  for (const std::uint64_t seed : {std::uint64_t{8}, std::uint64_t{7} | std::uint64_t{1} << 32}) {
    first.insert(Rng({.seed = seed, .epoch = 7, .sample = 7}, 0).next_u64());
  }
  first.insert(Rng({.seed = 7, .epoch = 8, .sample = 7}, 0).next_u64());
  for (const std::uint64_t sample :
       {std::uint64_t{8}, std::uint64_t{7} | std::uint64_t{1} << 32, std::uint64_t{1} << 47}) {
    first.insert(Rng({.seed = 7, .epoch = 7, .sample = sample}, 0).next_u64());
  }
  EXPECT_EQ(first.size(), 8U);
}

// The stream's definition is fixed for ever: a change here changes every user's results.
TEST(Rng, StreamIsPhiloxOfBlockOperationSampleEpoch) {
  Rng rng({.seed = 0x1122334455667788, .epoch = 9, .sample = 0xABCD00000001}, 5);
  const PhiloxBlock expected =
      philox4x32({0, 5U << 16 | 0xABCD, 0x00000001, 9}, {0x55667788, 0x11223344});
  for (const std::uint32_t word : expected) EXPECT_EQ(rng.next_u32(), word);
  const PhiloxBlock second =
      philox4x32({1, 5U << 16 | 0xABCD, 0x00000001, 9}, {0x55667788, 0x11223344});
  EXPECT_EQ(rng.next_u32(), second[0]);
}

TEST(Rng, UniformStaysInItsRangeWithTheRightMoments) {
  Rng rng({.seed = 3}, 0);
  constexpr int kDraws = 200'000;
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = rng.uniform(-2, 4);
    ASSERT_GE(u, -2);
    ASSERT_LE(u, 4);
    sum += u;
    squares += u * u;
  }
  const double mean = sum / kDraws;
  EXPECT_NEAR(mean, 1, 0.02);                            // sd of the mean: 0.004
  EXPECT_NEAR(squares / kDraws - mean * mean, 3, 0.03);  // (4 + 2)^2 / 12
}

TEST(Rng, UniformOfAnEmptyRangeIsItsOnlyValue) {
  Rng rng({.seed = 3}, 0);
  EXPECT_EQ(rng.uniform(1.5, 1.5), 1.5);
}

TEST(Rng, UniformIntIsUnbiasedForEverySmallBound) {
  for (const std::uint32_t bound : {1U, 2U, 3U, 7U, 10U, 100U}) {
    Rng rng({.seed = bound}, 0);
    std::vector<int> counts(bound);
    const int draws = 2000 * static_cast<int>(bound);
    for (int i = 0; i < draws; ++i) ++counts.at(rng.uniform_int(bound));
    double chi_square = 0;
    for (const int count : counts) chi_square += std::pow(count - 2000.0, 2) / 2000.0;
    // Mean bound - 1, deviation sqrt(2 (bound - 1)): five deviations.
    EXPECT_LE(chi_square, bound - 1 + 5 * std::sqrt(2.0 * (bound - 1)) + 1e-9) << bound;
  }
}

TEST(Rng, UniformIntReachesBothHalvesOfALargeBound) {
  Rng rng({.seed = 1}, 0);
  const std::uint32_t bound = 0xC0000000;  // a quarter of the draws must be repeated
  int upper = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint32_t value = rng.uniform_int(bound);
    ASSERT_LT(value, bound);
    upper += value >= bound / 2;
  }
  EXPECT_NEAR(upper, 5000, 300);
}

TEST(Rng, BernoulliFollowsItsProbability) {
  Rng rng({.seed = 1}, 0);
  int heads = 0;
  for (int i = 0; i < 10'000; ++i) heads += rng.bernoulli(0.3);
  EXPECT_NEAR(heads, 3000, 250);
  EXPECT_FALSE(rng.bernoulli(0));
  EXPECT_TRUE(rng.bernoulli(1));
}

}  // namespace
}  // namespace stoker

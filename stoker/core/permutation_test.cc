#include "stoker/core/permutation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/rng.h"

namespace stoker {
namespace {

using Order = std::vector<std::uint32_t>;

Order order_of(const Permutation& permutation) {
  Order order(permutation.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    order[i] = static_cast<std::uint32_t>(permutation[i]);
  }
  return order;
}

bool is_bijective(const Permutation& permutation) {
  std::vector<bool> seen(permutation.size());
  for (std::uint64_t i = 0; i < permutation.size(); ++i) {
    const std::uint64_t element = permutation[i];
    if (element >= permutation.size() || seen[element]) return false;
    seen[element] = true;
  }
  return true;
}

TEST(Permutation, IsBijectiveForEverySmallSize) {
  for (std::uint64_t n = 1; n <= 1500; ++n) ASSERT_TRUE(is_bijective({n, 42, 3})) << n;
}

TEST(Permutation, IsBijectiveAroundPowersOfTwo) {
  for (const std::uint64_t power : {4096U, 8192U, 65536U, 131072U, 1U << 20}) {
    for (const std::uint64_t n : {power - 1, power, power + 1}) {
      ASSERT_TRUE(is_bijective({n, n, 0})) << n;
    }
  }
}

TEST(Permutation, RefusesSizesItCannotHold) {
  EXPECT_THROW(Permutation(0, 1, 1), Error);
  EXPECT_THROW(Permutation(Permutation::kMaxSize + 1, 1, 1), Error);
  EXPECT_NO_THROW(Permutation(Permutation::kMaxSize, 1, 1));
}

TEST(Permutation, SeedAndEpochMakeOtherOrders) {
  const Order order = order_of({1000, 1, 1});
  EXPECT_EQ(order, order_of({1000, 1, 1}));
  EXPECT_NE(order, order_of({1000, 2, 1}));
  EXPECT_NE(order, order_of({1000, 1, 2}));
}

std::size_t resident_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6));
  }
  return 0;
}

// A place has one element and that element has this one place, so no two places share an element.
// Tried at the borders of blocks (powers of two, the ends) and at a million random places.
TEST(Permutation, IsBijectiveAtABillionAndTenBillionWithoutMemory) {
  static_assert(sizeof(Permutation) <= 128, "memory must not depend on the size");
  for (const std::uint64_t n : {std::uint64_t{1'000'000'000}, std::uint64_t{10'000'000'000}}) {
    const std::size_t before = resident_kilobytes();
    const Permutation permutation(n, 5, 1);
    std::vector<std::uint64_t> places = {0, 1, n / 2, n - 2, n - 1};
    for (std::uint64_t power = 2; power < n; power *= 2) {
      for (const std::uint64_t place : {power - 1, power, power + 1}) {
        if (place < n) places.push_back(place);
      }
    }
    const auto check = [&](std::uint64_t place) {
      const std::uint64_t element = permutation[place];
      ASSERT_LT(element, n);
      ASSERT_EQ(permutation.place_of(element), place);
      ASSERT_EQ(permutation[permutation.place_of(place)], place);
    };
    for (const std::uint64_t place : places) check(place);
    Rng rng({.seed = n}, 0);
    for (int i = 0; i < 1'000'000; ++i) check(rng.next_u64() % n);
    EXPECT_LE(resident_kilobytes(), before + 1024) << "memory grew at n = " << n;
  }
}

// All n! orders of a few elements come up equally often over many seeds.
TEST(Permutation, EveryOrderOfASmallSetIsEquallyLikely) {
  for (const std::uint64_t n : {2U, 3U, 4U, 5U, 6U}) {
    std::size_t orders = 1;
    for (std::size_t i = 2; i <= n; ++i) orders *= i;
    const std::size_t draws = orders * 400;
    std::map<Order, int> counts;
    for (std::size_t seed = 0; seed < draws; ++seed) ++counts[order_of({n, seed, 0})];
    EXPECT_EQ(counts.size(), orders) << n;
    double chi_square = 0;
    for (const auto& [order, count] : counts) chi_square += std::pow(count - 400.0, 2) / 400.0;
    const auto freedom = static_cast<double>(orders - 1);
    EXPECT_LE(chi_square, freedom + 5 * std::sqrt(2 * freedom)) << n;
  }
}

Order fisher_yates(std::uint32_t n, std::uint64_t seed) {
  Order order(n);
  std::iota(order.begin(), order.end(), 0);
  Rng rng({.seed = seed}, 1);
  for (std::uint32_t i = n - 1; i > 0; --i) std::swap(order[i], order[rng.uniform_int(i + 1)]);
  return order;
}

// Where the neighbour at distance `lag` lies, given where an element lies: 16 x 16 cells.
double neighbour_chi_square(const Order& order, std::size_t lag) {
  constexpr std::size_t kBins = 16;
  std::array<double, kBins * kBins> cells{};
  const std::size_t n = order.size();
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t a = order[i] * kBins / n, b = order[(i + lag) % n] * kBins / n;
    ++cells[a * kBins + b];
  }
  const double expected = static_cast<double>(n) / static_cast<double>(cells.size());
  double chi_square = 0;
  for (const double count : cells) chi_square += (count - expected) * (count - expected) / expected;
  return chi_square;
}

// The difference to the neighbour modulo n: 256 bins.
double difference_chi_square(const Order& order, std::size_t lag) {
  std::array<double, 256> bins{};
  const std::size_t n = order.size();
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t difference = (order[(i + lag) % n] + n - order[i]) % n;
    ++bins[difference * bins.size() / n];
  }
  const double expected = static_cast<double>(n) / static_cast<double>(bins.size());
  double chi_square = 0;
  for (const double count : bins) chi_square += (count - expected) * (count - expected) / expected;
  return chi_square;
}

// Largest distance between the two empirical distributions (Kolmogorov and Smirnov).
double largest_gap(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  double gap = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto below = std::upper_bound(b.begin(), b.end(), a[i]) - b.begin();
    gap = std::max(gap, std::abs(static_cast<double>(i + 1) / static_cast<double>(a.size()) -
                                 static_cast<double>(below) / static_cast<double>(b.size())));
  }
  return gap;
}

// Over many seeds, the chi-squares of neighbouring places follow the same distribution as those of
// a true shuffle: the two-sample test does not tell them apart at the 0.1 % level (1.95 sqrt(2/m)).
TEST(Permutation, NeighboursLookLikeThoseOfATrueShuffle) {
  constexpr std::uint32_t kSize = 100'000;
  constexpr int kSeeds = 120;
  for (const std::size_t lag : {1U, 2U, 64U}) {
    std::vector<double> ours_pairs, true_pairs, ours_steps, true_steps;
    for (int seed = 0; seed < kSeeds; ++seed) {
      const Order ours = order_of({kSize, static_cast<std::uint64_t>(seed), 0});
      const Order truth = fisher_yates(kSize, static_cast<std::uint64_t>(seed));
      ours_pairs.push_back(neighbour_chi_square(ours, lag));
      true_pairs.push_back(neighbour_chi_square(truth, lag));
      ours_steps.push_back(difference_chi_square(ours, lag));
      true_steps.push_back(difference_chi_square(truth, lag));
    }
    const double limit = 1.95 * std::sqrt(2.0 / kSeeds);
    EXPECT_LE(largest_gap(ours_pairs, true_pairs), limit) << "pairs at lag " << lag;
    EXPECT_LE(largest_gap(ours_steps, true_steps), limit) << "differences at lag " << lag;
  }
}

// The same statistics must be able to fail: a plain affine order has them far off.
TEST(Permutation, TheChiSquareRejectsAnAffineOrder) {
  Order order(100'000);
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    order[i] = static_cast<std::uint32_t>(std::uint64_t{i} * 61'803 % order.size());
  }
  EXPECT_GT(neighbour_chi_square(order, 1), 10'000);
  EXPECT_GT(difference_chi_square(order, 1), 10'000);
}

// Where one place's element lies, over many epochs: no element is favoured.
TEST(Permutation, EachPlaceSeesEveryElementOverTheEpochs) {
  for (const std::uint64_t n : {40U, 1000U}) {
    std::vector<double> counts(20);
    constexpr int kEpochs = 40'000;
    for (std::uint32_t epoch = 0; epoch < kEpochs; ++epoch) {
      ++counts[Permutation(n, 11, epoch)[7] * counts.size() / n];
    }
    double chi_square = 0;
    for (const double count : counts) chi_square += std::pow(count - 2000.0, 2) / 2000.0;
    EXPECT_LE(chi_square, 19 + 5 * std::sqrt(38.0)) << n;
  }
}

}  // namespace
}  // namespace stoker

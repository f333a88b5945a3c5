#include "stoker/data/order/sampler.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

std::vector<std::uint64_t> epoch_of(const EpochOrder& order, std::uint32_t epoch) {
  EpochOrder::Reader reader = order.reader();
  std::vector<std::uint64_t> samples(order.size());
  for (std::uint64_t i = 0; i < order.size(); ++i) samples[i] = reader.sample_at(epoch, i);
  return samples;
}

TEST(EpochOrder, VisitsEverySampleOnceAnEpoch) {
  for (const std::uint64_t n : {1, 2, 3, 40, 1000}) {
    auto samples = epoch_of(EpochOrder(n, 7, true), 3);
    std::ranges::sort(samples);
    std::vector<std::uint64_t> all(n);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(samples, all) << "n=" << n;
  }
}

TEST(EpochOrder, FollowsThePermutationOfTheEpoch) {
  const Permutation permutation(1000, 7, 3);
  EpochOrder::Reader reader = EpochOrder(1000, 7, true).reader();
  for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(reader.sample_at(3, i), permutation[i]);
}

TEST(EpochOrder, DiffersBetweenEpochsAndSeeds) {
  const auto first = epoch_of(EpochOrder(100, 7, true), 0);
  EXPECT_NE(first, epoch_of(EpochOrder(100, 7, true), 1));
  EXPECT_NE(first, epoch_of(EpochOrder(100, 8, true), 0));
  EXPECT_EQ(first, epoch_of(EpochOrder(100, 7, true), 0));
}

TEST(EpochOrder, CountsUpWithoutShuffle) {
  const auto samples = epoch_of(EpochOrder(5, 7, false), 9);
  EXPECT_EQ(samples, (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
}

TEST(EpochOrder, AnswersTheSameWhenEpochsAreAskedInTurn) {
  const EpochOrder order(50, 1, true);
  const auto zero = epoch_of(order, 0), one = epoch_of(order, 1);
  EpochOrder::Reader reader = order.reader();
  for (std::uint64_t i = 0; i < 50; ++i) {
    ASSERT_EQ(reader.sample_at(1, i), one[i]);
    ASSERT_EQ(reader.sample_at(0, i), zero[i]);
  }
}

TEST(EpochOrder, StartsAnywhereInTenBillionSamples) {
  const std::uint64_t n = 10'000'000'000;
  EpochOrder::Reader reader = EpochOrder(n, 1, true).reader();
  EXPECT_LT(reader.sample_at(0, n - 1), n);
  EXPECT_NE(reader.sample_at(0, n - 1), reader.sample_at(0, n - 2));
}

TEST(EpochOrder, RefusesSizesItCannotOrder) {
  for (const bool shuffle : {false, true}) {
    EXPECT_THROW(EpochOrder(0, 1, shuffle), Error);
    EXPECT_THROW(EpochOrder(Permutation::kMaxSize + 1, 1, shuffle), Error);
  }
}

TEST(EpochOrder, CallsAPositionBeyondTheEndABug) {
  EpochOrder::Reader reader = EpochOrder(5, 1, true).reader();
  EXPECT_THROW((void)reader.sample_at(0, 5), InvariantError);
}

}  // namespace
}  // namespace stoker

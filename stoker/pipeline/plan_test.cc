#include "stoker/pipeline/plan.h"

#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

std::vector<std::uint64_t> positions(const BatchPlan& plan, std::uint64_t batch) {
  const BatchPlan::Share share = plan.share(batch);
  EXPECT_LE(share.count, plan.capacity());
  std::vector<std::uint64_t> result;
  for (std::uint32_t slot = 0; slot < share.count; ++slot) {
    result.push_back(share.first_position + std::uint64_t{slot} * plan.ranks());
  }
  return result;
}

TEST(BatchPlan, EveryPositionOnceAndTheLastBatchTakesTheRest) {
  const BatchPlan plan({.samples = 10, .batch_size = 4, .end_epoch = 2});
  EXPECT_EQ(plan.batches_per_epoch(), 3U);
  EXPECT_EQ(plan.end_batch(), 6U);
  EXPECT_EQ(positions(plan, 0), (std::vector<std::uint64_t>{0, 1, 2, 3}));
  EXPECT_EQ(positions(plan, 2), (std::vector<std::uint64_t>{8, 9}));
  EXPECT_EQ(plan.share(3).epoch, 1U);
  EXPECT_EQ(positions(plan, 3), (std::vector<std::uint64_t>{0, 1, 2, 3}));
}

// The union over the ranks is the same for any number of them, batch by batch.
TEST(BatchPlan, RanksShareEveryGlobalBatch) {
  for (const std::uint32_t batch_size : {1U, 4U, 7U, 64U}) {
    const BatchPlan alone({.samples = 1003, .batch_size = batch_size});
    for (const std::uint32_t ranks : {1U, 2U, 3U, 8U, 100U}) {
      for (std::uint64_t batch = 0; batch < alone.end_batch(); ++batch) {
        std::vector<std::uint64_t> together;
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
          const BatchPlan plan(
              {.samples = 1003, .batch_size = batch_size, .rank = rank, .ranks = ranks});
          ASSERT_EQ(plan.end_batch(), alone.end_batch());
          for (const auto position : positions(plan, batch)) together.push_back(position);
        }
        std::sort(together.begin(), together.end());
        ASSERT_EQ(together, positions(alone, batch)) << ranks << " ranks, batch " << batch;
      }
    }
  }
}

// Dealt whole, the batches are those of a single rank.
TEST(BatchPlan, WholeBatchesAreThoseOfOneRank) {
  for (const std::uint32_t ranks : {1U, 2U, 3U, 7U}) {
    const BatchPlan alone({.samples = 50, .batch_size = 8});
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const BatchPlan plan({.samples = 50,
                            .batch_size = 8,
                            .end_epoch = 2,
                            .rank = rank,
                            .ranks = ranks,
                            .whole_batches = true});
      ASSERT_EQ(plan.step(), 1U);
      ASSERT_EQ(plan.end_batch(), 2 * plan.batches_per_epoch());
      std::uint64_t global = rank;
      for (std::uint64_t batch = 0; batch < plan.batches_per_epoch(); ++batch, global += ranks) {
        ASSERT_EQ(plan.share(batch).first_position, alone.share(global).first_position);
        ASSERT_EQ(plan.share(batch).count, alone.share(global).count);
        ASSERT_EQ(plan.share(batch + plan.batches_per_epoch()).epoch, 1U);
        ASSERT_LE(plan.share(batch).count, plan.capacity());
      }
      ASSERT_GE(global, alone.batches_per_epoch());
    }
  }
  EXPECT_THROW(
      BatchPlan({.samples = 8, .batch_size = 8, .rank = 1, .ranks = 2, .whole_batches = true}),
      Error);
}

TEST(BatchPlan, StartsAnywhereWithoutMovingBatchBorders) {
  const BatchPlan whole({.samples = 100, .batch_size = 8, .end_epoch = 3});
  for (std::uint64_t position = 0; position <= 100; ++position) {
    for (const std::uint32_t ranks : {1U, 3U}) {
      std::set<std::uint64_t> seen;
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const BatchPlan tail({.samples = 100,
                              .batch_size = 8,
                              .begin = {.epoch = 1, .position = position},
                              .end_epoch = 2,
                              .rank = rank,
                              .ranks = ranks});
        for (std::uint64_t batch = tail.first_batch(); batch < tail.end_batch(); ++batch) {
          ASSERT_EQ(tail.share(batch).epoch, 1U);
          for (const auto p : positions(tail, batch)) {
            ASSERT_EQ(p / 8, batch - whole.batches_per_epoch());
            ASSERT_TRUE(seen.insert(p).second);
          }
        }
      }
      ASSERT_EQ(seen.size(), 100 - position);
      ASSERT_TRUE(seen.empty() || *seen.begin() == position);
    }
  }
}

TEST(BatchPlan, ItsOwnCursorsContinueIt) {
  const BatchPlan whole({.samples = 100, .batch_size = 8, .end_epoch = 3});
  for (std::uint64_t batch = 0; batch < whole.end_batch(); ++batch) {
    const BatchPlan tail(
        {.samples = 100, .batch_size = 8, .begin = whole.cursor_before(batch), .end_epoch = 3});
    ASSERT_EQ(tail.first_batch(), batch);
    ASSERT_EQ(positions(tail, batch), positions(whole, batch));
  }
}

TEST(BatchPlan, DropsAShortLastBatchOnRequest) {
  const BatchPlan plan({.samples = 10, .batch_size = 4, .drop_last = true});
  EXPECT_EQ(plan.batches_per_epoch(), 2U);
  EXPECT_EQ(plan.samples_per_epoch(), 8U);
  EXPECT_THROW(BatchPlan({.samples = 3, .batch_size = 4, .drop_last = true}), Error);
}

TEST(BatchPlan, TakesAChosenNumberOfBatchesAnEpoch) {
  const BatchPlan plan({.samples = 1000, .batch_size = 10, .batches_per_epoch = 7});
  EXPECT_EQ(plan.batches_per_epoch(), 7U);
  EXPECT_EQ(plan.share(6).count, 10U);
}

// The course's setting: 300 batches of 16 from 500 samples. A pass has 31 full batches.
TEST(BatchPlan, MakesSeveralPassesWhereAnEpochHasMoreBatchesThanTheData) {
  const PlanOptions options{
      .samples = 500, .batch_size = 16, .batches_per_epoch = 300, .end_epoch = 2};
  const BatchPlan plan(options);
  EXPECT_EQ(plan.batches_per_epoch(), 300U);
  EXPECT_EQ(plan.samples_per_epoch(), 4800U);
  EXPECT_EQ(plan.passes_per_epoch(), 10U);
  std::set<std::pair<std::uint32_t, std::uint64_t>> seen;  // pass and position
  for (std::uint64_t batch = 0; batch < plan.end_batch(); ++batch) {
    const BatchPlan::Share share = plan.share(batch);
    ASSERT_EQ(share.epoch, batch / 300 * 10 + batch % 300 / 31);
    ASSERT_EQ(share.count, 16U);
    ASSERT_LE(share.first_position + 16, 500U);
    for (const auto position : positions(plan, batch)) {
      ASSERT_TRUE(seen.insert({share.epoch, position}).second);
      ASSERT_EQ(plan.cursor_of(share.epoch, position).epoch, batch / 300);
      ASSERT_EQ(plan.cursor_of(share.epoch, position).position / 16, batch % 300);
    }
    PlanOptions tail = options;
    tail.begin = plan.cursor_before(batch);
    ASSERT_EQ(BatchPlan(tail).first_batch(), batch);
    ASSERT_EQ(positions(BatchPlan(tail), batch), positions(plan, batch));
  }
  EXPECT_EQ(seen.size(), 9600U);
}

TEST(BatchPlan, RefusesPassesThatCannotHoldABatchOrBeNumbered) {
  EXPECT_THROW(BatchPlan({.samples = 15, .batch_size = 16, .batches_per_epoch = 2}), Error);
  const BatchPlan one({.samples = 16, .batch_size = 16, .batches_per_epoch = 2});
  EXPECT_EQ(positions(one, 1).size(), 16U);
  EXPECT_THROW(BatchPlan({.samples = 16,
                          .batch_size = 16,
                          .batches_per_epoch = std::uint64_t{1} << 31,
                          .end_epoch = 3}),
               Error);
  EXPECT_THROW(
      BatchPlan({.samples = 16, .batch_size = 16, .batches_per_epoch = std::uint64_t{1} << 62}),
      Error);
}

TEST(BatchPlan, RefusesWhatMakesNoSense) {
  EXPECT_THROW(BatchPlan({.samples = 0}), Error);
  EXPECT_THROW(BatchPlan({.samples = 10, .batch_size = 0}), Error);
  EXPECT_THROW(BatchPlan({.samples = 10, .rank = 2, .ranks = 2}), Error);
  EXPECT_THROW(BatchPlan({.samples = 10, .begin = {.epoch = 0, .position = 11}}), Error);
}

TEST(BatchPlan, TakesNoMoreMemoryThanAnEpochNeeds) {
  EXPECT_EQ(BatchPlan({.samples = 100, .batch_size = 1'000'000}).capacity(), 100U);
  EXPECT_EQ(BatchPlan({.samples = 100, .batch_size = 1'000'000, .rank = 1, .ranks = 3}).capacity(),
            33U);
  EXPECT_EQ(BatchPlan({.samples = 2, .batch_size = 64, .rank = 5, .ranks = 8}).capacity(), 1U);
}

TEST(BatchPlan, RefusesMoreBatchesThanCanBeNumbered) {
  EXPECT_THROW(BatchPlan({.samples = 10'000'000'000, .batch_size = 1, .end_epoch = 0xFFFFFFFF}),
               Error);
  EXPECT_NO_THROW(BatchPlan({.samples = 1'000'000'000, .batch_size = 1, .end_epoch = 0xFFFFFFFE}));
}

TEST(BatchPlan, CarriesABillionSamplesAndAThousandRanks) {
  const BatchPlan plan({.samples = 1'000'000'000,
                        .batch_size = 32'768,
                        .end_epoch = 100,
                        .rank = 999,
                        .ranks = 1000});
  const std::uint64_t last = plan.end_batch() - 1;
  EXPECT_EQ(plan.share(last).epoch, 99U);
  const auto p = positions(plan, last);
  ASSERT_FALSE(p.empty());
  EXPECT_LT(p.back(), 1'000'000'000U);
  EXPECT_EQ(p.front() - plan.batches_per_epoch() * 32'768 + 32'768, 999U);
}

}  // namespace
}  // namespace stoker

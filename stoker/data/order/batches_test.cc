#include "stoker/data/order/batches.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "stoker/core/permutation.h"
#include "stoker/data/test_files.h"

namespace stoker {
namespace {

constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();

std::vector<float> counting(std::size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

TEST(CreateBatches, GivesTheRemainderToTheLastBatch) {
  const auto data = counting(10 * 4);
  const std::vector<int> labels = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto batches = create_batches(SampleMatrix{data, 4}, labels, 4);
  ASSERT_EQ(batches.size(), 3U);
  EXPECT_EQ(batches[0].labels.size(), 4U);
  EXPECT_EQ(batches[1].labels.size(), 4U);
  EXPECT_EQ(batches[2].labels.size(), 2U);
  EXPECT_EQ(batches[2].data.values.size(), 2U * 4U);
  EXPECT_EQ(batches[2].data.values_per_sample, 4U);
}

TEST(CreateBatches, LosesNoSampleAndKeepsLabelsWithTheirData) {
  for (const std::size_t n : {0, 1, 7, 8, 9, 64}) {
    for (const std::size_t batch_size : {1, 3, 8, 100}) {
      const auto data = counting(n * 2);
      std::vector<std::uint8_t> labels(n);
      std::iota(labels.begin(), labels.end(), std::uint8_t{0});
      std::size_t seen = 0;
      for (const auto& batch : create_batches(SampleMatrix{data, 2}, labels, batch_size)) {
        for (std::size_t i = 0; i < batch.labels.size(); ++i, ++seen) {
          ASSERT_EQ(batch.labels[i], labels[seen]);
          ASSERT_EQ(batch.data.values[2 * i + 1], data[2 * seen + 1]);
        }
      }
      EXPECT_EQ(seen, n) << "batch_size=" << batch_size;
    }
  }
}

TEST(CreateBatches, CopiesNothing) {
  const auto data = counting(6);
  const std::vector<std::string> labels = {"a", "b", "c"};
  const auto batches = create_batches(SampleMatrix{data, 2}, labels, 2);
  EXPECT_EQ(batches[1].data.values.data(), data.data() + 4);
  EXPECT_EQ(batches[1].labels.data(), labels.data() + 2);
}

template <class Labels>
concept CanBatch = requires(SampleMatrix<float> data, Labels labels) {
  create_batches(data, std::forward<Labels>(labels), 1);
};
static_assert(CanBatch<std::vector<int>&> && CanBatch<std::span<const int>>);
static_assert(!CanBatch<std::vector<int>&&>, "views of a temporary would dangle");

TEST(CreateBatches, RefusesABatchSizeOfZero) {
  const auto data = counting(2);
  const std::vector<int> labels = {0, 1};
  const auto error = error_of([&] { (void)create_batches(SampleMatrix{data, 1}, labels, 0); });
  EXPECT_EQ(error.expected, "a batch size of at least 1");
}

TEST(CreateBatches, RefusesDataAndLabelsOfDifferentLengths) {
  const auto data = counting(8);
  const std::vector<int> labels = {0, 1, 2};
  const auto error = error_of([&] { (void)create_batches(SampleMatrix{data, 2}, labels, 2); });
  EXPECT_EQ(error.expected, "3 samples of 2 values, one for each label");
  EXPECT_THROW((void)create_batches(SampleMatrix{data, 3}, labels, 2), Error);  // 8 is not 2 * 3
  EXPECT_THROW((void)create_batches(SampleMatrix{data, 0}, labels, 2), Error);
}

TEST(BatchRanges, DoesNotOverflowAtTheLargestBatchSize) {
  const auto ranges = batch_ranges(10, kHuge);
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges[0].size, 10U);
}

std::vector<std::uint64_t> flat(const RandomBatches& options) {
  std::vector<std::uint64_t> all;
  for (const auto& batch : random_batches(options))
    all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

TEST(RandomBatches, TakesTheFirstPlacesOfTheEpochsPermutation) {
  const auto batches = random_batches(
      {.samples = 100, .batch_size = 8, .number_of_batches = 5, .seed = 3, .epoch = 2});
  ASSERT_EQ(batches.size(), 5U);
  const Permutation permutation(100, 3, 2);
  for (std::size_t b = 0; b < 5; ++b) {
    ASSERT_EQ(batches[b].size(), 8U);
    for (std::size_t i = 0; i < 8; ++i) ASSERT_EQ(batches[b][i], permutation[b * 8 + i]);
  }
}

TEST(RandomBatches, IsTheSameForTheSameArgumentsAndNewEachEpoch) {
  RandomBatches options{.samples = 60, .batch_size = 10, .number_of_batches = 4, .seed = 1};
  const auto first = random_batches(options);
  EXPECT_EQ(random_batches(options), first);
  options.epoch = 1;
  EXPECT_NE(random_batches(options), first);
}

TEST(RandomBatches, RepeatsNoSampleInsideABatchOrAPass) {
  const std::uint64_t n = 30, in_a_pass = 28;  // four batches of seven; two samples are omitted
  const auto all = flat({.samples = n, .batch_size = 7, .number_of_batches = 11, .seed = 5});
  ASSERT_EQ(all.size(), 77U);  // two whole passes and a part of a third
  for (std::size_t begin = 0; begin < all.size(); begin += in_a_pass) {
    const std::size_t end = std::min<std::size_t>(begin + in_a_pass, all.size());
    const std::set<std::uint64_t> pass(all.data() + begin, all.data() + end);
    EXPECT_EQ(pass.size(), end - begin);
    EXPECT_LT(*pass.rbegin(), n);
  }
}

TEST(RandomBatches, SharesNoPassBetweenEpochs) {
  // Two passes an epoch: epoch 1 has permutations 2 and 3.
  const auto all =
      flat({.samples = 30, .batch_size = 10, .number_of_batches = 5, .seed = 5, .epoch = 1});
  const Permutation third(30, 5, 2), fourth(30, 5, 3);
  for (std::size_t i = 0; i < 50; ++i) ASSERT_EQ(all[i], i < 30 ? third[i] : fourth[i - 30]);
}

TEST(RandomBatches, RefusesCountsOfZero) {
  const RandomBatches good{.samples = 5, .batch_size = 2, .number_of_batches = 1};
  for (const auto member :
       {&RandomBatches::samples, &RandomBatches::batch_size, &RandomBatches::number_of_batches}) {
    RandomBatches bad = good;
    bad.*member = 0;
    EXPECT_EQ(error_of([&] { (void)random_batches(bad); }).found, "0");
  }
}

TEST(RandomBatches, RefusesCountsThatOverflowBeforeTakingMemory) {
  RandomBatches options{.samples = 5, .batch_size = kHuge, .number_of_batches = 2};
  EXPECT_THROW((void)random_batches(options), Error);
  options.batch_size = Permutation::kMaxSize;
  EXPECT_THROW((void)random_batches(options), Error);
  options = {.samples = 1, .batch_size = 4, .number_of_batches = 1, .epoch = 1U << 30};
  EXPECT_THROW((void)random_batches(options), Error);  // four passes an epoch: 2^30 epochs
  options.epoch -= 1;
  EXPECT_EQ(random_batches(options).size(), 1U);
}

}  // namespace
}  // namespace stoker

// Samples that come before their shards: from a store that holds shards back, lies, hangs or fails.
#include "stoker/data/shards/first_samples.h"

#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/data/test_gated_store.h"

namespace stoker {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

// An image with its label.
struct Seen {
  std::int64_t label = -1;
  Image image;
  bool operator==(const Seen&) const = default;
};

Seen look(const Source& source, std::uint64_t index) {
  SampleBuffer buffer;
  const Sample sample = source.read(index, buffer).value();
  return {sample.label, Image(sample.image)};
}

class SamplesBeforeTheirShards : public testing::Test {
 protected:
  SamplesBeforeTheirShards() : near_(shards_.near()), far_(shards_.far()) {
    const ShardLayout& layout = *near_->layout();
    for (std::uint32_t shard = 0; shard < layout.shards(); ++shard) {
      all_shards_.push_back(shard);
      samples_.push_back(layout.first_of(shard) + layout.samples_of(shard) / 2);
    }
  }
  void begin(const std::vector<std::uint64_t>& samples) const {
    far_->expect_first(samples);
    far_->expect(0, all_shards_);
  }
  void expect_same(const std::vector<std::uint64_t>& samples) const {
    for (const std::uint64_t sample : samples) {
      EXPECT_EQ(look(*far_, sample), look(*near_, sample)) << sample;
    }
  }
  [[nodiscard]] std::vector<std::uint64_t> every_sample() const {
    std::vector<std::uint64_t> all(near_->size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  [[nodiscard]] test::GatedStore& store() const { return *shards_.store; }

  test::GatedShards shards_;
  std::shared_ptr<const Source> near_;
  std::shared_ptr<const ShardSource> far_;
  std::vector<std::uint32_t> all_shards_;
  std::vector<std::uint64_t> samples_;  // one of each shard
};

TEST_F(SamplesBeforeTheirShards, ComeThoughNoShardIsThere) {
  store().whole.open = false;
  begin(samples_);
  expect_same(samples_);
  EXPECT_EQ(store().whole.ended, 0);
  EXPECT_EQ(store().ranges.ended, static_cast<int>(samples_.size()));
  EXPECT_EQ(store().indexes.ended, static_cast<int>(all_shards_.size()));
}

TEST_F(SamplesBeforeTheirShards, TravelToProcessesWithTheirLabels) {
  store().whole.open = false;
  begin(samples_);
  for (const std::uint64_t sample : samples_) {
    std::vector<std::byte> bytes;
    const auto read = far_->read_bytes(sample, [&](std::size_t size) -> std::span<std::byte> {
      bytes.resize(size);
      return bytes;
    });
    ASSERT_TRUE(read);
    SampleBuffer buffer;
    const Sample decoded = far_->decode(sample, std::as_const(bytes), {}, buffer).value();
    EXPECT_EQ((Seen{decoded.label, Image(decoded.image)}), look(*near_, sample));
  }
  EXPECT_EQ(store().whole.ended, 0);
}

// A second view is cut from the bytes of the first; only its label is asked for.
TEST_F(SamplesBeforeTheirShards, HaveSeveralViews) {
  store().whole.open = false;
  begin(samples_);
  SampleBuffer buffer;
  const Sample first = far_->read(samples_[0], buffer).value();
  const Image image(first.image);
  const std::int64_t label = first.label;
  FrameRequest again;
  again.again = true;
  const Sample second = far_->read_framed(samples_[0], again, buffer).value();
  EXPECT_EQ(Image(second.image), image);
  EXPECT_EQ(second.label, label);
  EXPECT_EQ(store().whole.ended, 0);
}

TEST_F(SamplesBeforeTheirShards, CountAsWaitingForTheStore) {
  store().ranges.open = false;
  store().whole.open = false;
  begin(samples_);
  const std::jthread later([&] {
    std::this_thread::sleep_for(50ms);
    store().let_through(store().ranges);
  });
  SampleBuffer buffer;
  ASSERT_TRUE(far_->read(samples_[0], buffer));
  EXPECT_GT(buffer.store_wait, 20ms);
}

TEST_F(SamplesBeforeTheirShards, AreReadFromShardsWhereTheirBytesAreWrong) {
  store().lies = true;
  begin(samples_);
  expect_same(samples_);
  EXPECT_GT(store().ranges.ended, 0);
  EXPECT_LE(store().ranges.ended, static_cast<int>(samples_.size())) << "asked for once";
}

TEST_F(SamplesBeforeTheirShards, AreReadFromShardsWhereTheStoreGivesNoRanges) {
  store().ranges.broken = true;
  begin(samples_);
  expect_same(samples_);
}

TEST_F(SamplesBeforeTheirShards, HaveTheMessageOfTheShardWhereItCannotBeRead) {
  store().ranges.open = false;
  store().whole.broken = true;
  begin(samples_);
  SampleBuffer buffer;
  const auto sample = far_->read(samples_[0], buffer);
  ASSERT_FALSE(sample);
  EXPECT_THAT(to_string(sample.error()), HasSubstr("the store is broken"));
}

TEST_F(SamplesBeforeTheirShards, HaveAtMostAnEighthOfTheBytesOfTheirShards) {
  store().whole.open = false;
  begin(every_sample());
  std::uint64_t bytes = 0;
  for (const ShardFacts& shard : far_->manifest().shards) bytes += shard.bytes;
  while (store().ranges.bytes <= bytes / 16) std::this_thread::sleep_for(1ms);
  store().let_through(store().whole);
  expect_same(every_sample());
  EXPECT_LE(store().ranges.bytes, bytes / 8);
}

TEST_F(SamplesBeforeTheirShards, AreNamedOnce) {
  store().whole.open = false;
  begin({samples_[0]});
  begin(samples_);
  expect_same({samples_[0]});
  store().let_through(store().whole);
  expect_same(samples_);
  EXPECT_EQ(store().ranges.begun, 1);
}

TEST_F(SamplesBeforeTheirShards, AreNotAskedForWhereShardsAreHereOrSmall) {
  expect_same(every_sample());  // all shards into the cache
  const auto again = shards_.far();
  again->expect_first(samples_);
  EXPECT_EQ(look(*again, samples_[0]), look(*near_, samples_[0]));
  std::filesystem::remove_all(*shards_.options.cache_folder);
  shards_.options.single_reads_from = 1 << 20;
  const auto small = shards_.far();
  small->expect_first(samples_);
  EXPECT_EQ(look(*small, samples_[0]), look(*near_, samples_[0]));
  EXPECT_EQ(store().ranges.begun, 0);
}

TEST_F(SamplesBeforeTheirShards, AreNoLongerAskedForOnceTheirShardsAreThere) {
  store().ranges.open = false;
  begin(every_sample());
  expect_same(every_sample());
  const int begun = store().ranges.begun;
  EXPECT_LE(begun, 16) << "one for each thread";
  store().let_through(store().ranges);
  expect_same(every_sample());
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(store().ranges.begun, begun);
}

// Nobody fetches shards here but the reader, once it has waited in vain.
TEST_F(SamplesBeforeTheirShards, AreNotWaitedForForEver) {
  shards_.options.store.retry.stall = 1s;
  far_ = shards_.far();
  store().ranges.open = false;
  far_->expect_first(samples_);
  const auto start = Clock::now();
  expect_same(samples_);
  EXPECT_GE(Clock::now() - start, 900ms);
  EXPECT_LT(Clock::now() - start, 3s) << "once, not for each sample";
}

TEST_F(SamplesBeforeTheirShards, DoNotDelayTheEndOfASourceWhoseStoreHangs) {
  store().whole.open = false;
  for (auto* way : {&store().indexes, &store().ranges}) {
    store().let_through(store().indexes);
    way->open = false;
    auto source = shards_.far();
    source->expect_first(samples_);
    source->expect(0, all_shards_);
    while (way->begun == 0) std::this_thread::sleep_for(1ms);
    const auto start = Clock::now();
    source.reset();
    EXPECT_LT(Clock::now() - start, 500ms);
  }
}

}  // namespace
}  // namespace stoker

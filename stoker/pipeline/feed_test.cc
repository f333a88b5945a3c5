#include "stoker/pipeline/feed.h"

#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/float_mode.h"
#include "stoker/kernels/simd.h"
#include "stoker/pipeline/test_sources.h"

namespace stoker {
namespace {

using test::MadeUpSource;

// Everything a reader can see of a run, as bytes.
struct Recording {
  std::vector<std::byte> pixels;
  std::vector<std::int64_t> labels;
  std::vector<std::uint64_t> indices;
  std::vector<std::uint32_t> batch_sizes;
  bool operator==(const Recording&) const = default;
};

Recording run_all(const std::shared_ptr<const Source>& source, const char* policy,
                  const FeedOptions& options) {
  Recording run;
  Feed feed(source, Policy::parse(policy), options);
  while (const auto batch = feed.next()) {
    run.pixels.insert(run.pixels.end(), batch->pixels().begin(), batch->pixels().end());
    run.labels.insert(run.labels.end(), batch->labels().begin(), batch->labels().end());
    run.indices.insert(run.indices.end(), batch->indices().begin(), batch->indices().end());
    run.batch_sizes.push_back(batch->size());
  }
  return run;
}

constexpr const char* kPolicy = "rotate(-15,15),shift(-2,2),skew(-0.15,0.15),noise(0.1)";

TEST(Feed, GivesTheSameBytesForAnyNumberOfWorkersAndAnyRing) {
  const auto source = std::make_shared<MadeUpSource>(333);
  const Recording expected =
      run_all(source, kPolicy, {.workers = 1, .batch_size = 16, .epochs = 2, .seed = 5});
  EXPECT_EQ(expected.labels.size(), 666U);
  for (const int workers : {2, 3, 8, 64}) {
    for (const std::uint32_t ring : {1U, 2U, 7U}) {
      ASSERT_EQ(
          run_all(
              source, kPolicy,
              {.workers = workers, .batch_size = 16, .epochs = 2, .seed = 5, .ring_batches = ring}),
          expected)
          << workers << " workers, ring of " << ring;
    }
  }
}

// In which mode samples were read.
class ModeSource final : public MadeUpSource {
 public:
  using MadeUpSource::MadeUpSource;
  [[nodiscard]] Result<Sample> read(std::uint64_t index, SampleBuffer& buffer) const override {
    if (float_mode() != FloatMode::kExact) flushed_.store(true);
    return MadeUpSource::read(index, buffer);
  }
  [[nodiscard]] bool flushed() const { return flushed_.load(); }

 private:
  mutable std::atomic<bool> flushed_{false};
};

// Programs with other libraries may count subnormal floats as 0.
TEST(Feed, DoesNotDependOnTheFloatModeOfTheProgram) {
  const auto source = std::make_shared<ModeSource>(50);
  set_float_mode(FloatMode::kFlushSubnormals);
  run_all(source, kPolicy, {.workers = 2, .batch_size = 16, .epochs = 1});
  set_float_mode(FloatMode::kExact);
  EXPECT_FALSE(source->flushed());
}

// 300 random batches of 16 from 500 samples, as the course has it.
TEST(Feed, BatchesOfSeveralPassesHoldDifferentSamplesAndNewAugmentations) {
  const auto source = std::make_shared<MadeUpSource>(500);
  const FeedOptions options{
      .workers = 2, .batch_size = 16, .epochs = 2, .batches_per_epoch = 300, .seed = 5};
  const Recording run = run_all(source, kPolicy, options);
  ASSERT_EQ(run.batch_sizes, std::vector<std::uint32_t>(600, 16));
  std::map<std::uint64_t, std::set<std::string>> versions;  // of each sample
  std::map<std::uint64_t, std::size_t> times;
  const std::size_t bytes = run.pixels.size() / run.indices.size();
  for (std::size_t batch = 0; batch < 600; ++batch) {
    const auto first = run.indices.begin() + static_cast<std::ptrdiff_t>(batch * 16);
    ASSERT_EQ(std::set<std::uint64_t>(first, first + 16).size(), 16U) << batch;
  }
  for (std::size_t i = 0; i < run.indices.size(); ++i) {
    const auto* pixels = reinterpret_cast<const char*>(run.pixels.data()) + i * bytes;
    versions[run.indices[i]].emplace(pixels, bytes);
    ++times[run.indices[i]];
  }
  EXPECT_EQ(versions.size(), 500U);
  for (const auto& [index, images] : versions) ASSERT_EQ(images.size(), times[index]);
  FeedOptions other = options;
  other.workers = 5;
  EXPECT_EQ(run_all(source, kPolicy, other), run);
}

TEST(Feed, GivesTheSameBytesOnEveryInstructionSet) {
  const auto source =
      std::make_shared<MadeUpSource>(100, ImageShape{.height = 21, .width = 33, .channels = 3});
  const FeedOptions options{.workers = 2, .batch_size = 16};
  force_simd("reference");
  const Recording expected = run_all(source, kPolicy, options);
  for (const auto& name : available_simd()) {
    force_simd(name);
    EXPECT_EQ(run_all(source, kPolicy, options), expected) << name;
  }
  force_simd("auto");
}

TEST(Feed, EachEpochHasEverySampleOnceInAnotherOrder) {
  const auto source = std::make_shared<MadeUpSource>(100);
  const Recording run = run_all(source, "none", {.workers = 3, .batch_size = 8, .epochs = 2});
  const std::set<std::uint64_t> first(run.indices.begin(), run.indices.begin() + 100);
  const std::set<std::uint64_t> second(run.indices.begin() + 100, run.indices.end());
  EXPECT_EQ(first.size(), 100U);
  EXPECT_EQ(second.size(), 100U);
  EXPECT_FALSE(
      std::equal(run.indices.begin(), run.indices.begin() + 100, run.indices.begin() + 100));
  EXPECT_EQ(run.batch_sizes[12], 4U);  // the rest of the epoch; batches never mix epochs
}

TEST(Feed, WithoutShuffleKeepsTheSourcesOrder) {
  const auto source = std::make_shared<MadeUpSource>(20);
  const Recording run = run_all(source, "none", {.workers = 4, .batch_size = 6, .shuffle = false});
  for (std::uint64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(run.indices[i], i);
    EXPECT_EQ(run.labels[i], static_cast<std::int64_t>(i % 2));
  }
}

TEST(Feed, ASampleGetsAnotherVersionEachEpoch) {
  const auto source = std::make_shared<MadeUpSource>(1);
  const Recording run = run_all(source, kPolicy, {.workers = 1, .batch_size = 1, .epochs = 2});
  const std::size_t half = run.pixels.size() / 2;
  EXPECT_NE(std::memcmp(run.pixels.data(), run.pixels.data() + half, half), 0);
}

TEST(Feed, StartsAnywhereWithTheTailOfTheWholeRun) {
  const auto source = std::make_shared<MadeUpSource>(50);
  const FeedOptions options{.workers = 2, .batch_size = 8, .epochs = 3, .seed = 1};
  const Recording whole = run_all(source, kPolicy, options);
  const std::size_t bytes = whole.pixels.size() / whole.labels.size();
  for (const Cursor begin :
       {Cursor{0, 0}, Cursor{0, 13}, Cursor{1, 0}, Cursor{1, 24}, Cursor{2, 49}, Cursor{2, 50}}) {
    FeedOptions from = options;
    from.begin = begin;
    const Recording tail = run_all(source, kPolicy, from);
    const std::size_t skipped = begin.epoch * 50 + begin.position;
    ASSERT_EQ(tail.labels.size(), 150 - skipped);
    EXPECT_TRUE(
        std::equal(tail.indices.begin(), tail.indices.end(), whole.indices.begin() + skipped));
    EXPECT_TRUE(
        std::equal(tail.pixels.begin(), tail.pixels.end(), whole.pixels.begin() + skipped * bytes));
  }
}

TEST(Feed, RanksTogetherSeeWhatOneRankSees) {
  const auto source = std::make_shared<MadeUpSource>(101);
  const Recording alone = run_all(source, kPolicy, {.workers = 2, .batch_size = 12, .seed = 9});
  std::vector<std::uint64_t> together(101);
  for (std::uint32_t rank = 0; rank < 5; ++rank) {
    Feed feed(source, Policy::parse(kPolicy),
              {.workers = 2, .batch_size = 12, .seed = 9, .rank = rank, .ranks = 5});
    while (const auto batch = feed.next()) {
      for (std::uint32_t slot = 0; slot < batch->size(); ++slot) {
        together[batch->first_position() + slot * 5] = batch->indices()[slot];
      }
    }
  }
  EXPECT_EQ(together, alone.indices);
}

TEST(Feed, FloatsAreTheNormalisedBytes) {
  const auto source =
      std::make_shared<MadeUpSource>(10, ImageShape{.height = 5, .width = 7, .channels = 3});
  const Recording bytes =
      run_all(source, kPolicy, {.workers = 2, .batch_size = 10, .pixel_type = PixelType::kU8});
  const Recording floats = run_all(source, kPolicy, {.workers = 2, .batch_size = 10});
  ASSERT_EQ(floats.pixels.size(), 4 * bytes.pixels.size());
  const auto* values = reinterpret_cast<const float*>(floats.pixels.data());
  for (std::size_t sample = 0; sample < 10; ++sample) {
    for (std::size_t i = 0; i < 35; ++i) {
      for (std::size_t c = 0; c < 3; ++c) {
        const auto byte = std::to_integer<int>(bytes.pixels[sample * 105 + i * 3 + c]);
        ASSERT_FLOAT_EQ(values[sample * 105 + c * 35 + i], static_cast<float>(byte) / 255);
      }
    }
  }
}

TEST(Feed, HeldBatchesStayAsTheyAreWhileTheFeedGoesOn) {
  const auto source = std::make_shared<MadeUpSource>(400);
  Feed feed(source, Policy::parse(kPolicy), {.workers = 3, .batch_size = 4, .ring_batches = 4});
  std::deque<std::pair<Batch, std::vector<std::byte>>> held;  // each with a copy
  while (auto batch = feed.next()) {
    std::vector<std::byte> copy(batch->pixels().begin(), batch->pixels().end());
    held.emplace_back(std::move(*batch), std::move(copy));
    if (held.size() < 4) continue;
    const auto& [oldest, as_it_was] = held.front();
    ASSERT_TRUE(std::equal(as_it_was.begin(), as_it_was.end(), oldest.pixels().begin()));
    held.pop_front();
  }
}

// The ring has no memory left for the next batch: an error, where waiting would wait for ever.
TEST(Feed, HoldingEveryBatchIsAnErrorAndNotADeadlock) {
  Feed feed(std::make_shared<MadeUpSource>(400), Policy(),
            {.workers = 3, .batch_size = 4, .ring_batches = 4});
  std::vector<Batch> held;
  for (int i = 0; i < 4; ++i) held.push_back(std::move(*feed.next()));
  EXPECT_THROW(static_cast<void>(feed.next()), Error);
  held.erase(held.begin());
  EXPECT_EQ(feed.next()->number(), 4U) << "dropping a batch mends it";
}

TEST(Feed, ReportsWhereTheTimeWent) {
  const auto source = std::make_shared<MadeUpSource>(2000);
  Feed feed(source, Policy::parse(kPolicy), {.workers = 2, .batch_size = 10, .ring_batches = 4});
  while (const auto batch = feed.next())
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  const FeedStats stats = feed.stats();
  EXPECT_EQ(stats.samples, 2000U);
  EXPECT_NEAR(stats.stages.read + stats.stages.augment + stats.stages.write + stats.stages.blocked,
              1, 1e-9);
  EXPECT_GT(stats.stages.augment, 0);
  EXPECT_GT(stats.stages.blocked, 0) << "the reader was made the slower side";
  EXPECT_GE(stats.wait_share, 0);
  EXPECT_LT(stats.wait_share, 0.5);
  EXPECT_GE(stats.ring_fill.size(), 100U);
  for (const double fill : stats.ring_fill) EXPECT_LE(fill, 4);
  EXPECT_EQ(stats.ring_batches, 4U);
}

TEST(Feed, RefusesOptionsThatMakeNoSense) {
  const auto source = std::make_shared<MadeUpSource>(10);
  EXPECT_THROW(Feed(source, Policy(), {.workers = -1}), Error);
  EXPECT_THROW(Feed(source, Policy(), {.workers = 100'000}), Error);
  EXPECT_THROW(Feed(source, Policy(), {.batch_size = 0}), Error);
  EXPECT_THROW(Feed(source, Policy(), {.ring_batches = 4'000'000'000}), Error);
}

TEST(Feed, PixelsAsNumbersAreTheBatchesBytes) {
  const auto source = std::make_shared<MadeUpSource>(4);
  Feed floats(source, {}, {.workers = 1, .batch_size = 4, .shuffle = false});
  const auto batch = floats.next();
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->pixels_f32().size(), 4 * batch->image_shape().bytes());
  EXPECT_EQ(std::as_bytes(batch->pixels_f32()).data(), batch->pixels().data());
  EXPECT_THROW(static_cast<void>(batch->pixels_u8()), Error);
  Feed bytes(source, {}, {.workers = 1, .batch_size = 4, .pixel_type = PixelType::kU8});
  const auto raw = bytes.next();
  ASSERT_TRUE(raw);
  EXPECT_EQ(raw->pixels_u8().size(), raw->pixels().size());
  EXPECT_THROW(static_cast<void>(raw->pixels_f32()), Error);
}

}  // namespace
}  // namespace stoker

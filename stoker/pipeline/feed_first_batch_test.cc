// The first batches of a feed whose shards lie in a store: they come before the shards, and are the
// same as from this machine.
#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/data/test_gated_store.h"
#include "stoker/pipeline/feed.h"
#include "stoker/pipeline/test_threads.h"

namespace stoker {
namespace {

using namespace std::chrono_literals;

// What a reader sees of a batch.
struct Seen {
  std::vector<std::byte> pixels;
  std::vector<std::int64_t> labels;
  std::vector<std::uint64_t> indices;
  bool operator==(const Seen&) const = default;
};

Seen next_of(Feed& feed) {
  const auto batch = feed.next();
  if (!batch) return {};
  return {.pixels = {batch->pixels().begin(), batch->pixels().end()},
          .labels = {batch->labels().begin(), batch->labels().end()},
          .indices = {batch->indices().begin(), batch->indices().end()}};
}

const Policy kFlips = Policy::parse("resize(20,20),hflip(0.5),noise(0.1)");

// All batches of shards on this machine. The threads of this feed end before another one begins: a
// feed with processes forks, and AddressSanitizer's allocator may be locked by another thread then.
std::vector<Seen> batches_from_here(const test::GatedShards& shards, const FeedOptions& options) {
  Feed feed(shards.near(), kFlips, options);
  std::vector<Seen> batches;
  for (Seen seen = next_of(feed); !seen.labels.empty(); seen = next_of(feed)) {
    batches.push_back(std::move(seen));
  }
  return batches;
}

// The first two batches while no shard is there, then all others.
void expect_same_batches(test::GatedShards& shards, const FeedOptions& options) {
  std::filesystem::remove_all(*shards.options.cache_folder);
  shards.store->whole.open = false;
  shards.store->whole.ended = 0;
  const std::vector<Seen> wanted = batches_from_here(shards, options);
  ASSERT_GT(wanted.size(), 2);
  Feed feed(shards.far(), kFlips, options);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (i == 2) {
      EXPECT_EQ(shards.store->whole.ended, 0);
      shards.store->let_through(shards.store->whole);
    }
    EXPECT_EQ(next_of(feed), wanted[i]) << i;
  }
  EXPECT_TRUE(next_of(feed).labels.empty());
}

TEST(FeedFirstBatch, ComesBeforeTheShardsAndIsTheSame) {
  test::GatedShards shards;
  expect_same_batches(shards, {.workers = 1, .batch_size = 3, .epochs = 2});
  expect_same_batches(shards, {.workers = 4, .batch_size = 3, .epochs = 2});
  expect_same_batches(shards, {.workers = 2, .batch_size = 3, .epochs = 2, .isolate = true});
}

TEST(FeedFirstBatch, IsThatOfTheRankAndOfTheStart) {
  test::GatedShards shards;
  expect_same_batches(shards, {.workers = 2,
                               .batch_size = 6,
                               .epochs = 2,
                               .begin = {.epoch = 1, .position = 36},
                               .rank = 1,
                               .ranks = 2});
  shards.options.window = 2;
  shards.options.lanes = 2;
  expect_same_batches(shards, {.workers = 2, .batch_size = 2, .epochs = 2});
}

// Else it would depend on timing which samples of a damaged shard are replaced.
TEST(FeedFirstBatch, WaitsForShardsWhereSamplesMayBeReplaced) {
  test::GatedShards shards;
  Feed feed(shards.far(), kFlips, {.workers = 2, .batch_size = 3, .on_error = OnError::kSkip});
  EXPECT_FALSE(next_of(feed).labels.empty());
  EXPECT_EQ(shards.store->ranges.begun, 0);
}

TEST(FeedFirstBatch, IsNotWaitedForWhereTheStoreHangsAndTheReaderGivesUp) {
  test::GatedShards shards;
  shards.store->whole.open = false;
  shards.store->ranges.open = false;
  const int threads = test::threads_now();
  const auto start = std::chrono::steady_clock::now();
  {
    Feed feed(shards.far(), kFlips,
              {.workers = 2, .batch_size = 3, .give_up = [] { return true; }});
    EXPECT_THROW(static_cast<void>(feed.next()), FeedGivenUp);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, 4s);
  EXPECT_GT(shards.store->ranges.begun, 0);
  shards.store->let_through(shards.store->ranges);  // threads that were left behind end
  shards.store->let_through(shards.store->whole);
  EXPECT_TRUE(test::threads_end(threads));
}

}  // namespace
}  // namespace stoker

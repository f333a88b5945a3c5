#include "stoker/data/order/shard_order.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "stoker/core/rng.h"
#include "stoker/data/order/sampler.h"

namespace stoker {
namespace {

std::shared_ptr<const ShardLayout> layout_of(const std::vector<std::uint64_t>& sizes,
                                             std::uint32_t window, std::uint32_t lanes = 1) {
  return std::make_shared<ShardLayout>(sizes, window, lanes);
}

std::vector<std::uint64_t> uneven(std::size_t shards) {
  std::vector<std::uint64_t> sizes(shards);
  for (std::size_t i = 0; i < shards; ++i) sizes[i] = 1 + (i * 37) % 23;
  return sizes;
}

std::vector<std::uint64_t> order_of(const ShardOrder& order, std::uint32_t epoch) {
  ShardOrder::Reader reader(order);
  std::vector<std::uint64_t> indices;
  for (std::uint64_t i = 0; i < order.layout().samples(); ++i) {
    indices.push_back(reader.sample_at(epoch, i));
  }
  return indices;
}

bool is_permutation_of_all(std::vector<std::uint64_t> indices) {
  std::ranges::sort(indices);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] != i) return false;
  }
  return true;
}

TEST(ShardLayout, FindsEverySamplesPlace) {
  const auto sizes = uneven(50);
  const auto layout = layout_of(sizes, 4);
  std::uint64_t index = 0;
  for (std::uint32_t shard = 0; shard < sizes.size(); ++shard) {
    for (std::uint64_t sample = 0; sample < sizes[shard]; ++sample, ++index) {
      const auto place = layout->place_of(index);
      ASSERT_EQ(place.shard, shard);
      ASSERT_EQ(place.sample, sample);
    }
  }
  EXPECT_EQ(layout->samples(), index);
}

TEST(ShardOrder, GivesEverySampleOnceForAnyShardsAndWindow) {
  for (const std::size_t shards : {1UL, 2UL, 7UL, 64UL, 100UL}) {
    for (const std::uint32_t window : {1U, 3U, 16U, 1000U}) {
      for (const std::uint32_t lanes : {1U, 2U, 5U, 64U}) {
        const ShardOrder order(layout_of(uneven(shards), window, lanes), 5, true);
        for (const std::uint32_t epoch : {0U, 77U}) {
          ASSERT_TRUE(is_permutation_of_all(order_of(order, epoch))) << shards << " " << window;
        }
      }
    }
  }
}

TEST(ShardOrder, OpensNoMoreShardsThanAWindowAtATime) {
  const auto layout = layout_of(uneven(64), 8);
  const ShardOrder order(layout, 3, true);
  const auto indices = order_of(order, 2);
  std::vector<std::set<std::uint32_t>> windows(1);
  std::uint64_t left = 0;
  ShardOrder::Reader reader(order);
  std::uint64_t entered = 0;
  for (std::uint64_t i = 0; i < indices.size(); ++i) {
    static_cast<void>(reader.sample_at(2, i));
    if (reader.windows() != entered) {
      entered = reader.windows();
      windows.emplace_back();
      left = reader.shards_ahead().shards.size();
    }
    windows.back().insert(layout->place_of(indices[i]).shard);
  }
  EXPECT_EQ(entered, 8U);
  EXPECT_EQ(left, 16U);
  for (std::size_t i = 1; i < windows.size(); ++i) EXPECT_EQ(windows[i].size(), 8U);
}

TEST(ShardOrder, AnnouncesTheShardsThatComeInTheirOrderAlsoOfTheNextEpoch) {
  const auto layout = layout_of(uneven(24), 8);
  const ShardOrder order(layout, 9, true);
  ShardOrder::Reader reader(order);
  std::vector<std::uint32_t> announced;
  for (const std::uint32_t epoch : {0U, 1U}) {
    for (std::uint64_t i = 0; i < layout->samples(); ++i) {
      const std::uint64_t entered = reader.windows();
      const std::uint32_t shard = layout->place_of(reader.sample_at(epoch, i)).shard;
      if (reader.windows() != entered) {
        const auto ahead = reader.shards_ahead().shards;
        ASSERT_EQ(ahead.size(), 16U);
        if (!announced.empty()) {
          EXPECT_TRUE(std::equal(ahead.begin(), ahead.begin() + 8, announced.begin() + 8));
        }
        announced = ahead;
      }
      ASSERT_NE(std::find(announced.begin(), announced.begin() + 8, shard), announced.begin() + 8);
    }
  }
}

TEST(ShardOrder, StartsAnywhereWithoutReplay) {
  const ShardOrder order(layout_of(uneven(64), 4, 3), 11, true);
  const auto indices = order_of(order, 6);
  Rng rng({.seed = 1}, 0);
  for (int i = 0; i < 2000; ++i) {
    ShardOrder::Reader fresh(order);
    const std::uint64_t position = rng.uniform_int(static_cast<std::uint32_t>(indices.size()));
    ASSERT_EQ(fresh.sample_at(6, position), indices[position]);
  }
}

TEST(ShardOrder, SeedAndEpochMakeOtherOrdersAndNoShuffleMakesNone) {
  const auto layout = layout_of(uneven(64), 4);
  const auto order = order_of(ShardOrder(layout, 1, true), 0);
  EXPECT_NE(order, order_of(ShardOrder(layout, 2, true), 0));
  EXPECT_NE(order, order_of(ShardOrder(layout, 1, true), 1));
  std::vector<std::uint64_t> plain(order.size());
  std::iota(plain.begin(), plain.end(), 0U);
  EXPECT_EQ(order_of(ShardOrder(layout, 1, false), 0), plain);
}

// Runs of earlier versions are resumed and repeated in it.
TEST(ShardOrder, NeverChanges) {
  const auto order = order_of(ShardOrder(layout_of(uneven(64), 4, 3), 1, true), 2);
  EXPECT_EQ(std::vector(order.begin(), order.begin() + 8),
            (std::vector<std::uint64_t>{378, 342, 624, 525, 424, 351, 374, 421}));
  std::uint64_t digest = 0;
  for (const std::uint64_t index : order) digest = digest * 1'000'003 + index;
  EXPECT_EQ(digest, 16036724466129712176U);
}

// With as many lanes as ranks, rank r (positions r, r + ranks, …) reads shards that no other reads.
TEST(ShardOrder, GivesRanksShardsOfTheirOwnWhereThereAreAsManyLanes) {
  const auto layout = layout_of(std::vector<std::uint64_t>(64, 100), 2, 8);
  const auto indices = order_of(ShardOrder(layout, 8, true), 3);
  for (const std::size_t ranks : {8UL, 4UL, 2UL}) {
    std::vector<std::set<std::uint32_t>> of_shard(64);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      of_shard[layout->place_of(indices[i]).shard].insert(static_cast<std::uint32_t>(i % ranks));
    }
    for (const auto& readers : of_shard) EXPECT_EQ(readers.size(), 1U) << ranks;
  }
}

// The worst case: shards that hold one class each. In a window all its samples are as well mixed as
// by a whole shuffle: the number of changes of the shard between neighbours is what chance gives.
TEST(ShardOrder, MixesTheShardsOfAWindow) {
  const auto layout = layout_of(std::vector<std::uint64_t>(64, 500), 16);
  const auto indices = order_of(ShardOrder(layout, 4, true), 0);
  std::uint64_t same = 0;
  for (std::size_t i = 1; i < indices.size(); ++i) {
    same += layout->place_of(indices[i]).shard == layout->place_of(indices[i - 1]).shard;
  }
  // Expected 32,000 / 16 = 2,000, give or take 43.
  EXPECT_NEAR(static_cast<double>(same), 2000, 5 * 43);
}

}  // namespace
}  // namespace stoker

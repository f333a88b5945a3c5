#include "stoker/doctor/hamming_index.h"

#include <bit>
#include <ctime>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/rng.h"

namespace stoker {
namespace {

std::uint64_t random_hash(Rng& rng) {
  return std::uint64_t{rng.uniform_int(1U << 31)} << 33 ^
         std::uint64_t{rng.uniform_int(1U << 31)} << 11 ^ rng.uniform_int(1U << 31);
}

// With `bits` different bits.
std::uint64_t flipped(std::uint64_t hash, int bits, Rng& rng) {
  const std::uint64_t before = hash;
  while (hamming_distance(before, hash) < bits) hash ^= std::uint64_t{1} << rng.uniform_int(64);
  return hash;
}

std::vector<std::uint32_t> slow_search(const std::vector<std::uint64_t>& hashes, std::uint64_t hash,
                                       int distance) {
  std::vector<std::uint32_t> found;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (hamming_distance(hashes[i], hash) <= distance) {
      found.push_back(static_cast<std::uint32_t>(i));
    }
  }
  return found;
}

TEST(HammingIndex, FindsWhatLookingAtAllFinds) {
  Rng rng({.seed = 4}, 0);
  std::vector<std::uint64_t> hashes;
  for (int i = 0; i < 40; ++i) {
    const std::uint64_t centre = random_hash(rng);
    for (int bits = 0; bits <= 20; ++bits) hashes.push_back(flipped(centre, bits, rng));
  }
  const HammingIndex index(hashes);
  for (int distance = 0; distance <= HammingIndex::kMaxDistance; ++distance) {
    for (std::size_t i = 0; i < hashes.size(); i += 21) {
      const auto expected = slow_search(hashes, hashes[i], distance);
      ASSERT_EQ(index.within(hashes[i], distance), expected) << distance << " bits, hash " << i;
      ASSERT_GT(expected.size(), static_cast<std::size_t>(distance / 2));
    }
  }
}

// The worst case for pieces: the differing bits are spread over all four evenly.
TEST(HammingIndex, FindsDifferencesSpreadOverAllPieces) {
  const std::vector<std::uint64_t> hashes = {0};
  const HammingIndex index(hashes);
  EXPECT_EQ(index.within(0x0003'0003'0003'0003, 8).size(), 1U);
  EXPECT_EQ(index.within(0x8001'8001'8001'8007, 10).size(), 1U);
  EXPECT_EQ(index.within(0x8001'8001'8001'8007, 9).size(), 0U);
  EXPECT_EQ(index.within(0x0007'0007'0007'000F, 13).size(), 1U);
}

TEST(HammingIndex, HoldsNothingOrTheSameTwice) {
  EXPECT_TRUE(HammingIndex({}).within(7, 15).empty());
  const std::vector<std::uint64_t> same = {5, 5, 5};
  EXPECT_EQ(HammingIndex(same).within(4, 1), (std::vector<std::uint32_t>{0, 1, 2}));
}

// Comparing all pairs would take 5 * 10^9 looks, a minute or more in a debug build.
TEST(HammingIndex, ServesAHundredThousandHashesInSeconds) {
  Rng rng({.seed = 9}, 0);
  std::vector<std::uint64_t> hashes(100'000);
  for (std::uint64_t& hash : hashes) hash = random_hash(rng);
  hashes.back() = flipped(hashes.front(), 8, rng);
  const std::clock_t start = std::clock();  // CPU time: others may use the machine
  const HammingIndex index(hashes);
  std::size_t pairs = 0;
  for (const std::uint64_t hash : hashes) {
    for (const std::uint32_t near : index.within(hash, 8)) {
      ASSERT_LE(std::popcount(hashes[near] ^ hash), 8);
      ++pairs;
    }
  }
  EXPECT_THAT(index.within(hashes.front(), 8), testing::Contains(hashes.size() - 1));
  EXPECT_GE(pairs, hashes.size() + 2);  // itself, and the two that were made alike
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 30);
}

}  // namespace
}  // namespace stoker

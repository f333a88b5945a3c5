#include "stoker/pipeline/ring.h"

#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

namespace stoker {
namespace {

std::shared_ptr<Ring> make_ring(const PlanOptions& plan, std::uint32_t batches) {
  return std::make_shared<Ring>(
      BatchPlan(plan),
      BatchLayout{.shape = {.height = 2, .width = 2}, .pixel_type = PixelType::kU8}, batches,
      host_batch_memory);
}

void fill(Ring& ring, const Ring::Claim& claim) {
  *claim.index = claim.position;
  *claim.label = static_cast<std::int64_t>(claim.slot);
  std::fill(claim.pixels.begin(), claim.pixels.end(), static_cast<std::byte>(claim.position));
  ring.finish(claim);
}

TEST(Ring, GivesBatchesInOrderHoweverTheyAreFinished) {
  const auto ring = make_ring({.samples = 8, .batch_size = 2}, 4);
  std::vector<Ring::Claim> claims;
  for (int i = 0; i < 8; ++i) claims.push_back(*ring->claim());
  EXPECT_EQ(ring->claim(), std::nullopt);
  for (auto claim = claims.rbegin(); claim != claims.rend(); ++claim) fill(*ring, *claim);
  EXPECT_EQ(ring->ready(), 4U);
  for (std::uint64_t number = 0; number < 4; ++number) {
    const auto batch = ring->take();
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->number(), number);
    EXPECT_EQ(batch->indices()[1], number * 2 + 1);
    EXPECT_EQ(batch->pixels_of(1)[3], static_cast<std::byte>(number * 2 + 1));
  }
  EXPECT_FALSE(ring->take());
}

TEST(Ring, AHeldBatchHoldsItsCellAndOnlyThat) {
  const auto ring = make_ring({.samples = 100, .batch_size = 1}, 2);
  fill(*ring, *ring->claim());
  fill(*ring, *ring->claim());
  auto first = ring->take();
  auto second = ring->take();
  std::atomic<bool> claimed = false;
  std::jthread worker([&] {
    const auto claim = ring->claim();  // batch 2 lies where batch 0 does
    claimed = true;
    fill(*ring, *claim);
  });
  second.reset();  // frees the other cell
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(claimed);
  EXPECT_EQ(first->indices()[0], 0U);
  first.reset();
  worker.join();
  EXPECT_TRUE(claimed);
}

TEST(Ring, AMovedBatchIsReleasedOnce) {
  const auto ring = make_ring({.samples = 3, .batch_size = 1}, 1);
  for (std::uint64_t i = 0; i < 3; ++i) {
    fill(*ring, *ring->claim());
    std::optional<Batch> batch = ring->take();
    Batch moved = std::move(*batch);
    Batch again = std::move(moved);
    EXPECT_EQ(again.indices()[0], i);
  }
}

TEST(Ring, StopWakesWorkersAndReader) {
  const auto ring = make_ring({.samples = 10, .batch_size = 5}, 1);
  for (int i = 0; i < 5; ++i) static_cast<void>(ring->claim());  // never finished
  std::jthread worker([&] { EXPECT_EQ(ring->claim(), std::nullopt); });
  std::jthread reader([&] { EXPECT_FALSE(ring->take()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ring->stop();
}

// Of two places that fail, the reader always sees the first, whichever failed earlier.
TEST(Ring, TheFirstFailingPlaceIsReported) {
  for (const bool first_fails_first : {true, false}) {
    const auto ring = make_ring({.samples = 2, .batch_size = 2}, 1);
    const auto a = ring->claim(), b = ring->claim();
    const auto fail = [&](const Ring::Claim& claim, const char* text) {
      ring->fail(claim, std::make_exception_ptr(std::runtime_error(text)));
    };
    if (first_fails_first) fail(*a, "first");
    fail(*b, "second");
    if (!first_fails_first) fail(*a, "first");
    ring->finish(*a);
    ring->finish(*b);
    try {
      static_cast<void>(ring->take());
      FAIL() << "no error";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "first");
    }
  }
}

// A rank without a sample in a batch still gets the batch, empty, so that ranks stay in step.
TEST(Ring, EmptyBatchesAreGivenToo) {
  const auto ring = make_ring({.samples = 5, .batch_size = 4, .rank = 2, .ranks = 4}, 2);
  while (const auto claim = ring->claim()) {
    if (claim->empty) {
      ring->finish(*claim);
    } else {
      fill(*ring, *claim);
    }
  }
  EXPECT_EQ(ring->take()->size(), 1U);
  EXPECT_EQ(ring->take()->size(), 0U);
  EXPECT_FALSE(ring->take());
}

TEST(Ring, ABatchOutlivesItsRingsOwner) {
  auto ring = make_ring({.samples = 1, .batch_size = 1}, 1);
  fill(*ring, *ring->claim());
  auto batch = ring->take();
  ring->stop();
  ring.reset();
  EXPECT_EQ(batch->labels()[0], 0);
}

}  // namespace
}  // namespace stoker

#include "stoker/pipeline/ring.h"

#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

// With many workers every run is one place.
std::shared_ptr<Ring> make_ring(const PlanOptions& plan, std::uint32_t batches,
                                int workers = 1000) {
  return std::make_shared<Ring>(
      BatchPlan(plan),
      BatchContents{.image = {.height = 2, .width = 2}, .pixel_type = PixelType::kU8},
      Ring::Options{.batches = batches, .workers = workers});
}

std::optional<Ring::Run> claim(Ring& ring) {
  const auto run = ring.reserve();
  if (!run || !ring.open(*run)) return std::nullopt;
  return run;
}

void fill(Ring& ring, const Ring::Run& run) {
  for (std::uint32_t i = 0; i < run.count; ++i) {
    const Ring::Place place = ring.place(run, i);
    const std::uint64_t position = run.first_position + std::uint64_t{i} * ring.plan().ranks();
    *place.index = position;
    *place.label = static_cast<std::int64_t>(run.first_slot + i);
    std::fill(place.pixels.begin(), place.pixels.end(), static_cast<std::byte>(position));
  }
  ring.finish(run);
}

TEST(Ring, GivesBatchesInOrderHoweverTheyAreFinished) {
  const auto ring = make_ring({.samples = 8, .batch_size = 2}, 4);
  std::vector<Ring::Run> claims;
  for (int i = 0; i < 8; ++i) claims.push_back(*claim(*ring));
  EXPECT_FALSE(claim(*ring));
  for (auto last = claims.rbegin(); last != claims.rend(); ++last) fill(*ring, *last);
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
  fill(*ring, *claim(*ring));
  fill(*ring, *claim(*ring));
  auto first = ring->take();
  auto second = ring->take();
  std::atomic<bool> claimed = false;
  std::jthread worker([&] {
    const auto third = claim(*ring);  // batch 2 lies where batch 0 does
    claimed = true;
    fill(*ring, *third);
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
    fill(*ring, *claim(*ring));
    std::optional<Batch> batch = ring->take();
    Batch moved = std::move(*batch);
    Batch again = std::move(moved);
    EXPECT_EQ(again.indices()[0], i);
  }
}

TEST(Ring, StopWakesWorkersAndReader) {
  const auto ring = make_ring({.samples = 10, .batch_size = 5}, 1);
  for (int i = 0; i < 5; ++i) static_cast<void>(claim(*ring));  // never finished
  std::jthread worker([&] { EXPECT_FALSE(claim(*ring)); });
  std::jthread reader([&] { EXPECT_FALSE(ring->take()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ring->stop();
}

// Of two places that fail, the reader always sees the first, whichever failed earlier.
TEST(Ring, TheFirstFailingPlaceIsReported) {
  for (const bool first_fails_first : {true, false}) {
    const auto ring = make_ring({.samples = 2, .batch_size = 2}, 1);
    const auto a = claim(*ring), b = claim(*ring);
    const auto fail = [&](const Ring::Run& failed, const char* text) {
      ring->fail(failed, 0, std::make_exception_ptr(std::runtime_error(text)));
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
  while (const auto next = claim(*ring)) fill(*ring, *next);
  EXPECT_EQ(ring->take()->size(), 1U);
  EXPECT_EQ(ring->take()->size(), 0U);
  EXPECT_FALSE(ring->take());
}

// Every place of every batch belongs to exactly one run, whatever their lengths.
TEST(Ring, RunsOfSmallSamplesCoverEveryPlaceOnce) {
  for (const int workers : {1, 2, 3, 8, 100}) {
    const auto ring =
        make_ring({.samples = 301, .batch_size = 50, .rank = 1, .ranks = 3}, 7, workers);
    EXPECT_LE(ring->places_per_run(), 16U);
    std::uint32_t places = 0;
    while (const auto next = claim(*ring)) {
      places += next->count;
      fill(*ring, *next);
    }
    EXPECT_EQ(places, 6 * 17U);  // of 50, 17 are this rank's; the last batch has one sample
    while (const auto batch = ring->take()) {
      for (std::uint32_t slot = 0; slot < batch->size(); ++slot) {
        EXPECT_EQ(batch->labels()[slot], slot);
        EXPECT_EQ(batch->indices()[slot], batch->number() * 50 + 1 + slot * 3);
      }
    }
  }
}

TEST(Ring, LargeSamplesAreTakenOneByOne) {
  const Ring ring(BatchPlan({.samples = 64}),
                  BatchContents{.image = {.height = 224, .width = 224, .channels = 3}},
                  Ring::Options{.batches = 1, .workers = 1});
  EXPECT_EQ(ring.places_per_run(), 1U);
}

TEST(Ring, ABatchOutlivesItsRingsOwner) {
  auto ring = make_ring({.samples = 1, .batch_size = 1}, 1);
  fill(*ring, *claim(*ring));
  auto batch = ring->take();
  ring->stop();
  ring.reset();
  EXPECT_EQ(batch->labels()[0], 0);
}

TEST(Ring, LargerThanAllAddressesIsRefused) {
  EXPECT_THAT(message_of([] {
                const Ring ring(BatchPlan({.samples = 1 << 20, .batch_size = 1 << 16}),
                                BatchContents{.image = {.height = kMaxSide, .width = kMaxSide},
                                              .pixel_type = PixelType::kU8},
                                Ring::Options{.batches = 1024, .workers = 1});
              }),
              testing::HasSubstr("too large for this machine's addresses"));
}

}  // namespace
}  // namespace stoker

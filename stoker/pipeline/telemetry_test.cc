#include "stoker/pipeline/telemetry.h"

#include <array>
#include <chrono>
#include <cstdint>

#include <gtest/gtest.h>

namespace stoker {
namespace {

using namespace std::chrono_literals;

TEST(BoundedSeries, KeepsShortSeriesAsTheyAre) {
  BoundedSeries series;
  for (int i = 0; i < 10; ++i) series.add(i);
  ASSERT_EQ(series.points().size(), 10U);
  EXPECT_EQ(series.points()[7], 7);
}

TEST(BoundedSeries, KeepsTheShapeOfLongOnesInBoundedMemory) {
  BoundedSeries series;
  constexpr int kValues = 1'000'000;
  for (int i = 0; i < kValues; ++i) series.add(i < kValues / 2 ? 0 : 8);
  EXPECT_LE(series.points().size(), BoundedSeries::kMaxPoints);
  EXPECT_GE(series.points().size(), BoundedSeries::kMaxPoints / 2 - 1);
  EXPECT_EQ(series.points().front(), 0);
  EXPECT_EQ(series.points().back(), 8);
}

TEST(StageShares, AddUpToOne) {
  WorkerTimes times;
  times.add_stages(10ns, 20ns, 30ns);
  times.add_blocked(30 * WorkerTimes::kTimedEvery);
  times.add_store(10 * WorkerTimes::kTimedEvery);
  const StageShares shares = stage_shares({times.sums(), times.sums()});
  EXPECT_DOUBLE_EQ(shares.read, 0.1);
  EXPECT_DOUBLE_EQ(shares.augment, 0.2);
  EXPECT_DOUBLE_EQ(shares.write, 0.3);
  EXPECT_DOUBLE_EQ(shares.blocked, 0.3);
  EXPECT_DOUBLE_EQ(shares.store, 0.1);
}

TEST(StageShares, AreZeroBeforeAnythingHappened) {
  EXPECT_EQ(stage_shares({WorkerTimes::Sums{}}).read, 0);
}

TEST(WorkerTimes, AreSumsOfWhatWasAdded) {
  WorkerTimes times;
  const auto sums_are = [&times](std::array<std::uint64_t, 6> expected) {
    const WorkerTimes::Sums sums = times.sums();
    EXPECT_EQ((std::array{sums.samples, sums.store_ns, sums.read_ns, sums.augment_ns, sums.write_ns,
                          sums.blocked_ns}),
              expected);
  };
  sums_are({0, 0, 0, 0, 0, 0});
  const WorkerTimes::Sums none;
  EXPECT_EQ(none.samples + none.store_ns + none.read_ns + none.augment_ns + none.write_ns, 0U);
  EXPECT_EQ(none.blocked_ns, 0U);
  using std::chrono::nanoseconds;
  times.count_sample();
  times.add_stages(nanoseconds(1), nanoseconds(2), nanoseconds(3));
  times.add_stages(nanoseconds(10), nanoseconds(20), nanoseconds(30));
  times.add_store(4);
  times.add_blocked(5);
  times.add_blocked(50);
  constexpr std::uint64_t kEach = WorkerTimes::kTimedEvery;  // a timed sample counts for as many
  sums_are({1, 4, 11 * kEach, 22 * kEach, 33 * kEach, 55});
}

TEST(WorkerTimes, TimesOneSampleInSeventeen) {
  WorkerTimes times;
  int timed = 0;
  for (int i = 0; i < 170; ++i) {
    timed += times.time_next();
    times.count_sample();
  }
  EXPECT_EQ(timed, 10);
}

}  // namespace
}  // namespace stoker

#include "stoker/pipeline/telemetry.h"

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
  times.add_blocked(40 * WorkerTimes::kTimedEvery);
  const StageShares shares = stage_shares({times.sums(), times.sums()});
  EXPECT_DOUBLE_EQ(shares.read, 0.1);
  EXPECT_DOUBLE_EQ(shares.augment, 0.2);
  EXPECT_DOUBLE_EQ(shares.write, 0.3);
  EXPECT_DOUBLE_EQ(shares.blocked, 0.4);
}

TEST(StageShares, AreZeroBeforeAnythingHappened) {
  EXPECT_EQ(stage_shares({WorkerTimes::Sums{}}).read, 0);
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

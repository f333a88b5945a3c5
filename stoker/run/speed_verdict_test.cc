#include "stoker/run/speed_verdict.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

constexpr StageShares kIdle = {.read = 0.02, .augment = 0.005, .blocked = 0.975};
constexpr StageShares kBusy = {.read = 0.7, .augment = 0.2, .write = 0.1};

TEST(SpeedVerdict, SaysHowMuchMoreTheFeedCouldSupply) {
  EXPECT_EQ(speed_verdict({.all = 10, .wait = 0.2}, kIdle),
            "compute-bound; the feed could supply 40 times as much");
  EXPECT_EQ(speed_verdict({.all = 10, .wait = 0.2}, {.read = 0.5, .blocked = 0.5}),
            "compute-bound; the feed could supply 2.0 times as much");
  EXPECT_EQ(speed_verdict({.all = 10}, {.read = 0.001, .blocked = 0.999}),
            "compute-bound; the feed could supply more than 100 times as much");
}

TEST(SpeedVerdict, NamesTheSlowestStageOfTheFeed) {
  EXPECT_EQ(speed_verdict({.all = 10, .wait = 3.5}, kBusy),
            "feed-bound: 35 % of the time was data wait; workers spent 70 % of theirs on reading "
            "and decoding");
  EXPECT_EQ(speed_verdict({.all = 10, .wait = 1}, {.store = 0.9, .read = 0.1}),
            "feed-bound: 10 % of the time was data wait; workers spent 90 % of theirs on waiting "
            "for the store");
}

TEST(SpeedVerdict, NamesCopiesAndSumsWhereTheyTakeMore) {
  EXPECT_EQ(speed_verdict({.all = 10, .wait = 2, .copy = 3}, kBusy),
            "bound by copies to the device: 30 % of the time");
  EXPECT_EQ(speed_verdict({.all = 10, .wait = 2, .copy = 3, .sums = 4}, kIdle),
            "bound by the sums over ranks: 40 % of the time");
}

TEST(SpeedVerdict, IsNoneWithoutAnEpoch) { EXPECT_EQ(speed_verdict({}, kIdle), ""); }

}  // namespace
}  // namespace stoker

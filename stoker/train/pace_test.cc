#include "stoker/train/pace.h"

#include <thread>

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(Pace, WorkThatTookLongWaitsLonger) {
  Pace pace(0.1);
  EXPECT_TRUE(pace.is_due()) << "at once at first";
  pace.run([] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
  EXPECT_FALSE(pace.is_due());
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(pace.is_due()) << "20 ms of work are a tenth of 200";
  while (!pace.is_due()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

TEST(Pace, WorkThatCostsNothingIsDueAgainAtOnce) {
  Pace pace(0.5);
  pace.run([] {});
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(pace.is_due());
}

TEST(Pace, IsNotDueWhileTheWorkIsUnderWay) {
  Pace pace(0.5);
  pace.begin();
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pace.end();
  });
  EXPECT_FALSE(pace.is_due());
  other.join();
  EXPECT_FALSE(pace.is_due()) << "its cost is from the beginning on";
}

}  // namespace
}  // namespace stoker

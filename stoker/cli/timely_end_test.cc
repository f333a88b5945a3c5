#include "stoker/cli/timely_end.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>

#include <gtest/gtest.h>

#include "stoker/cli/command.h"

namespace stoker {
namespace {

using std::chrono::milliseconds;

void say(int signal) { std::fprintf(stderr, "stopped by %d", signal); }

// Longer than any test waits.
void hang() { std::this_thread::sleep_for(std::chrono::minutes(2)); }

TEST(TimelyEndDeathTest, EndsAProcessThatDoesNotLookForItsSignal) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const StopSignals signals;
        const TimelyEnd end(signals, say, milliseconds(20));
        std::raise(SIGTERM);
        hang();
      },
      testing::ExitedWithCode(kStoppedExitCode), "stopped by 15");
}

TEST(TimelyEnd, LeavesAProcessAloneThatWasNotAskedToStop) {
  const StopSignals signals;
  const TimelyEnd end(signals, say, milliseconds(1));
  std::this_thread::sleep_for(milliseconds(200));
}

TEST(TimelyEnd, LeavesAProcessAloneThatLooksForItsSignal) {
  const StopSignals signals;
  TimelyEnd end(signals, say, milliseconds(300));
  std::raise(SIGTERM);
  std::this_thread::sleep_for(milliseconds(100));
  end.cancel();
  std::this_thread::sleep_for(milliseconds(500));
}

TEST(TimelyEnd, DoesNotWaitWhenItGoes) {
  const auto begin = std::chrono::steady_clock::now();
  {
    const StopSignals signals;
    const TimelyEnd end(signals, say, std::chrono::minutes(2));
    std::raise(SIGTERM);
    std::this_thread::sleep_for(milliseconds(100));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

}  // namespace
}  // namespace stoker

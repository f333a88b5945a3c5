#include "stoker/core/helper_threads.h"

#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace stoker {
namespace {

TEST(HelperThreads, EveryJobIsDoneOnceInEveryRound) {
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::atomic<int>> done(round % 9);
    HelperThreads::of_process().run(round % 9, round % 4, [&](int i) { ++done[i]; });
    for (const auto& times : done) ASSERT_EQ(times, 1);
  }
}

TEST(HelperThreads, TwoCallersDoNotGetInEachOthersWay) {
  std::atomic<int> wrong = 0;
  const auto call_often = [&] {
    for (int round = 0; round < 1000; ++round) {
      std::atomic<int> sum = 0;
      HelperThreads::of_process().run(4, 3, [&](int i) { sum += 1 << i; });
      if (sum != 15) ++wrong;
    }
  };
  {
    const std::jthread other(call_often);
    call_often();
  }
  EXPECT_EQ(wrong, 0);
}

TEST(HelperThreads, AJobMayHaveJobs) {
  std::atomic<int> inner = 0;
  HelperThreads::of_process().run(
      2, 1, [&](int) { HelperThreads::of_process().run(3, 2, [&](int) { ++inner; }); });
  EXPECT_EQ(inner, 6);
}

TEST(HelperThreads, OthersHelpWhileTheCallerWorks) {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  std::atomic<int> here = 0;
  // Each job waits for the other: only two threads can end this.
  HelperThreads::of_process().run(2, 1, [&](int) {
    ++here;
    while (here < 2) std::this_thread::yield();
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(seen.size(), 2);
}

TEST(HelperThreads, AForkedProcessWorksAlone) {
  HelperThreads::of_process().run(2, 1, [](int) {});
  const pid_t child = fork();
  if (child == 0) {
    int sum = 0;
    HelperThreads::of_process().run(3, 2, [&](int i) { sum += i; });
    _exit(sum == 3 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace stoker

#include "stoker/core/background_writer.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

TEST(BackgroundWriter, RunsJobsOneByOneInTheirOrder) {
  std::vector<int> order;  // no lock: the next job starts after the one before
  {
    BackgroundWriter writer;
    for (int i = 0; i < 100; ++i) writer.start([&order, i] { order.push_back(i); });
    writer.wait();
    EXPECT_EQ(order.size(), 100U);
    writer.start([&order] { order.push_back(100); });
  }
  ASSERT_EQ(order.size(), 101U) << "the destructor waits for the last";
  for (int i = 0; i <= 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(BackgroundWriter, TheOwnerGoesOnWhileAJobRuns) {
  BackgroundWriter writer;
  std::atomic<bool> may_end = false, ended = false;
  writer.start([&] {
    while (!may_end) std::this_thread::yield();
    ended = true;
  });
  writer.check();  // neither waits nor throws
  EXPECT_FALSE(ended);
  may_end = true;
  writer.wait();
  EXPECT_TRUE(ended);
}

TEST(BackgroundWriter, AFailureIsThrownOnceWhereTheOwnerLooksNext) {
  const auto fail = [] { throw Error({.what = "disk full"}); };
  BackgroundWriter writer;
  writer.start(fail);
  EXPECT_THROW(writer.wait(), Error);
  EXPECT_NO_THROW(writer.wait());
  writer.start(fail);
  bool started = false;
  EXPECT_THROW(writer.start([&] { started = true; }), Error);
  writer.wait();
  EXPECT_FALSE(started) << "what should have followed the failed job is not done";
  writer.start(fail);
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  const auto checked = [&] {
    while (std::chrono::steady_clock::now() < limit) writer.check();
  };
  EXPECT_THROW(checked(), Error);
}

TEST(BackgroundWriter, LetsGoOfWhatAJobOwns) {
  BackgroundWriter writer;
  auto owned = std::make_shared<int>(1);
  const std::weak_ptr<int> seen = owned;
  writer.start([owned = std::move(owned)] {});
  writer.start([] {});
  writer.wait();
  EXPECT_TRUE(seen.expired());
}

TEST(BackgroundWriter, StandsBackBehindOtherThreads) {
  int niceness = 0;
  const int own = getpriority(PRIO_PROCESS, 0);
  BackgroundWriter writer(own + 3);
  writer.start([&] { niceness = getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())); });
  writer.wait();
  EXPECT_EQ(niceness, own + 3);
  EXPECT_EQ(getpriority(PRIO_PROCESS, 0), own);
}

}  // namespace
}  // namespace stoker

// Ends of a feed that are not the usual one: errors, a reader that goes away, stops at any moment.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include "stoker/core/sanitizers.h"
#include "stoker/core/test_files.h"
#include "stoker/pipeline/feed.h"
#include "stoker/pipeline/test_sources.h"
#include "stoker/pipeline/test_threads.h"

namespace stoker {
namespace {

using test::MadeUpSource;
using test::threads_become;
using test::threads_end;
using test::threads_now;

// Batches until the error, and its message.
struct Ending {
  int batches = 0;
  std::string message;
  std::string sample_name;
};

Ending read_to_the_error(const std::shared_ptr<const Source>& source, int workers) {
  Ending ending;
  Feed feed(source, Policy::parse("noise(0.1)"),
            {.workers = workers, .batch_size = 4, .shuffle = false});
  try {
    while (feed.next()) ++ending.batches;
  } catch (const SampleError& error) {
    ending.message = error.what();
    ending.sample_name = error.sample_name();
    EXPECT_THROW(static_cast<void>(feed.next()), SampleError) << "the end stays an error";
  }
  return ending;
}

TEST(FeedErrors, ASampleThatCannotBeReadIsNamedAfterTheBatchesBeforeIt) {
  for (const int workers : {1, 2, 8}) {
    auto source = std::make_shared<MadeUpSource>(40);
    source->unreadable = 21;
    const Ending ending = read_to_the_error(source, workers);
    EXPECT_EQ(ending.batches, 5) << workers;
    EXPECT_EQ(ending.sample_name, "made-up#21");
    EXPECT_THAT(ending.message, testing::HasSubstr("damaged on purpose"));
    EXPECT_THAT(ending.message, testing::HasSubstr("position 21"));
  }
}

TEST(FeedErrors, AnExceptionInAWorkerReachesTheReader) {
  auto source = std::make_shared<MadeUpSource>(40);
  source->throws = 3;
  const int before = threads_now();
  const Ending ending = read_to_the_error(source, 8);
  EXPECT_EQ(ending.batches, 0);
  EXPECT_EQ(ending.sample_name, "made-up#3");
  EXPECT_THAT(ending.message, testing::HasSubstr("thrown on purpose"));
  EXPECT_TRUE(threads_end(before));
}

TEST(FeedErrors, TheReadersOwnExceptionEndsTheWorkers) {
  const int before = threads_now();
  try {
    Feed feed(std::make_shared<MadeUpSource>(1000), Policy::parse("noise(0.1)"),
              {.workers = 8, .batch_size = 4});
    static_cast<void>(feed.next());
    throw std::runtime_error("the trainer failed");
  } catch (const std::runtime_error&) {
  }
  EXPECT_TRUE(threads_end(before));
}

TEST(FeedErrors, MemoryThatCannotBeHadIsAnErrorAndLeavesNoThread) {
  const int before = threads_now();
  EXPECT_THROW(Feed(std::make_shared<MadeUpSource>(10), Policy(),
                    {.workers = 4,
                     .make_memory = [](std::size_t) -> std::unique_ptr<BatchMemory> {
                       throw Error({.what = "no memory"});
                     }}),
               Error);
  EXPECT_TRUE(threads_end(before));
}

// UBSan's checks need descriptors of their own.
#if !STOKER_ASAN
// With each further descriptor it comes one step further.
TEST(FeedErrors, WithoutDescriptorsThereAreNoProcesses) {
  const auto source = std::make_shared<MadeUpSource>(40);
  int descriptors = 0;
  for (const char* what :
       {"cannot make a pipe", "cannot start worker processes",
        "cannot get memory that processes share", "cannot make a socket for worker processes"}) {
    const int threads = threads_now();
    ++descriptors;
    const ErrorDetails error = error_of([&] {
      const DescriptorLimit limit(descriptors);
      const Feed feed(source, Policy(), {.workers = 2, .batch_size = 4, .isolate = true});
    });
    EXPECT_THAT(error.what, testing::HasSubstr(what)) << descriptors;
    EXPECT_EQ(error.found, "Too many open files");
    EXPECT_TRUE(threads_end(threads));
  }
}
#endif

TEST(FeedStop, ABatchMayOutliveItsFeed) {
  std::optional<Batch> batch;
  {
    Feed feed(std::make_shared<MadeUpSource>(100), Policy(),
              {.workers = 2, .batch_size = 4, .shuffle = false});
    batch = feed.next();
  }
  EXPECT_EQ(batch->indices()[3], 3U);
}

// Stops at a random moment and starts again from the cursor of what was read: after a thousand
// times no thread and no sample is lost, and none is seen twice.
TEST(FeedStop, AThousandRandomStopsAndRestartsLoseNothing) {
  const auto source = std::make_shared<MadeUpSource>(640);
  const int before = threads_now();
  Rng rng({.seed = 2024}, 0);
  int stops = 0;
  std::uint32_t epoch = 0;
  while (stops < 1000) {
    std::set<std::uint64_t> seen;
    Cursor cursor{.epoch = epoch, .position = 0};
    while (cursor.position < source->size()) {
      Feed feed(source, Policy::parse("rotate(10),noise(0.1)"),
                {.workers = 1 + static_cast<int>(rng.uniform_int(8)),
                 .batch_size = 16,
                 .epochs = epoch + 1,
                 .begin = cursor,
                 .ring_batches = 1 + rng.uniform_int(6)});
      const std::uint32_t wanted = rng.uniform_int(12);
      for (std::uint32_t i = 0; i < wanted; ++i) {
        const auto batch = feed.next();
        if (!batch) break;
        for (const auto index : batch->indices()) ASSERT_TRUE(seen.insert(index).second);
        cursor.position += batch->size();
      }
      if (rng.bernoulli(0.3))
        std::this_thread::sleep_for(std::chrono::microseconds(rng.uniform_int(300)));
      ++stops;
    }
    ASSERT_EQ(seen.size(), source->size()) << "epoch " << epoch;
    ++epoch;
  }
  EXPECT_TRUE(threads_end(before));
}

TEST(FeedStop, WorkersAreGoneWhenTheFeedIs) {
  const int before = threads_now();
  {
    Feed feed(std::make_shared<MadeUpSource>(1000), Policy(), {.workers = 5, .batch_size = 4});
    EXPECT_TRUE(threads_become(before + 5));
  }
  EXPECT_TRUE(threads_end(before));
}

class FeedGivesUp : public testing::TestWithParam<bool> {};

// With threads and with processes: batches before the read that hangs are given, the rest is not
// waited for, and neither is the thread.
TEST_P(FeedGivesUp, OnAReadThatNeverReturns) {
  using Clock = std::chrono::steady_clock;
  const int before = threads_now();
  const auto source = std::make_shared<test::BlockingSource>(64, 13);
  std::atomic<bool> stop{false};
  Clock::time_point asked;
  {
    Feed feed(
        source, Policy(),
        {.workers = 2, .batch_size = 4, .shuffle = false, .isolate = GetParam(), .give_up = [&] {
           return stop.load();
         }});
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(feed.next()) << i;
    EXPECT_FALSE(feed.wait_for(std::chrono::milliseconds(100)));
    asked = Clock::now();
    stop.store(true);
    try {
      static_cast<void>(feed.next());
      FAIL() << "a batch with a sample that was never read";
    } catch (const FeedGivenUp& error) {
      EXPECT_EQ(error.details().path, GetParam() ? "" : "made-up#13");
    }
  }
  EXPECT_LT(Clock::now() - asked, std::chrono::seconds(10));
  source->release();
  EXPECT_TRUE(threads_end(before));
  EXPECT_EQ(source.use_count(), 1);
}

#if !STOKER_TSAN  // to which threads that nobody waits for are leaks
// Gives up on a read that never returns while the system has no thread left, and ends the process.
[[noreturn]] void give_up_without_threads() {
  bool stop = false;
  {
    Feed feed(std::make_shared<test::BlockingSource>(64, 1), Policy(),
              {.workers = 2, .batch_size = 4, .give_up = [&] { return stop; }});
    stop = true;
    EXPECT_THROW(static_cast<void>(feed.next()), FeedGivenUp);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, std::size_t{1} << 52);  // more than can be addressed
    EXPECT_EQ(pthread_setattr_default_np(&attributes), 0);
    EXPECT_THROW(std::thread([] {}), std::system_error);
  }
  _exit(testing::Test::HasFailure() ? 1 : 0);
}

TEST(FeedGivesUpAlone, WithoutAThreadThatWaitsForItsWorkers) {
  EXPECT_EXIT(give_up_without_threads(), testing::ExitedWithCode(0), "");
}
#endif

// As long as nobody asks to stop, a slow read is waited for, also by the destructor.
TEST_P(FeedGivesUp, OnlyWhenItIsAskedTo) {
  const auto source = std::make_shared<test::BlockingSource>(8, 5);
  int asked = 0;
  std::jthread slow([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    source->release();
  });
  const int threads = threads_now();
  {
    Feed feed(source, Policy(),
              {.workers = 2, .batch_size = 4, .isolate = GetParam(), .give_up = [&] {
                 return ++asked < 0;
               }});
    int batches = 0;
    while (feed.next()) ++batches;
    EXPECT_EQ(batches, 2);
  }
  EXPECT_GE(asked, 1);
  EXPECT_TRUE(threads_end(threads));
}

INSTANTIATE_TEST_SUITE_P(, FeedGivesUp, testing::Bool(), [](const auto& isolate) {
  return isolate.param ? "WithProcesses" : "WithThreads";
});

}  // namespace
}  // namespace stoker

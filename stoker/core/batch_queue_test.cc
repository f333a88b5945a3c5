#include "stoker/core/batch_queue.h"

#include <atomic>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stoker {
namespace {

using namespace std::chrono_literals;

struct Square : BatchWork {
  int number = 0, result = 0;
};
using SquareQueue = BatchQueue<Square>;

std::shared_ptr<Square> square_of(int number) {
  auto work = std::make_shared<Square>();
  work->number = number;
  return work;
}

// Computes until the queue is stopped; notes how large batches were.
class SquareConsumer {
 public:
  explicit SquareConsumer(SquareQueue& queue) : queue_(queue), thread_([this] { run(); }) {}
  ~SquareConsumer() { stop(); }
  void stop() {
    queue_.stop();
    if (thread_.joinable()) thread_.join();
  }
  // Of a stopped one.
  [[nodiscard]] const std::vector<std::size_t>& sizes() const { return sizes_; }
  std::atomic<bool> held{false};  // batches that have been taken are not computed

 private:
  void run() {
    for (auto batch = queue_.take(); !batch.empty(); batch = queue_.take()) {
      while (held.load()) std::this_thread::sleep_for(1ms);
      for (const auto& work : batch) work->result = work->number * work->number;
      sizes_.push_back(batch.size());
      queue_.finish(batch);
    }
  }

  SquareQueue& queue_;
  std::vector<std::size_t> sizes_;
  std::jthread thread_;
};

void wait_until_waiting(const SquareQueue& queue, std::size_t count) {
  while (queue.stats().waiting < count) std::this_thread::sleep_for(100us);
}

TEST(BatchQueue, GivesEachOfSixteenThreadsItsOwnResult) {
  constexpr int kThreads = 16, kCalls = 200;
  SquareQueue queue({.max_batch = 8, .max_delay = 500us});
  SquareConsumer consumer(queue);
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kCalls; ++i) {
          const auto work = std::make_shared<Square>();
          const auto outcome =
              queue.run(work, SquareQueue::kNoDeadline, [&] { work->number = t * kCalls + i; });
          const int number = t * kCalls + i;
          if (outcome != BatchOutcome::kDone || work->result != number * number) ++wrong;
        }
      });
    }
  }
  consumer.stop();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(queue.stats().done, kThreads * kCalls);
  EXPECT_EQ(queue.stats().callers, 0U);
  std::size_t all = 0;
  for (const std::size_t size : consumer.sizes()) {
    EXPECT_LE(size, 8U);
    all += size;
  }
  EXPECT_EQ(all, static_cast<std::size_t>(kThreads * kCalls));
}

TEST(BatchQueue, DoesNotMakeALoneCallerWait) {
  SquareQueue queue({.max_batch = 8, .max_delay = 1h});
  SquareConsumer consumer(queue);
  for (int i = 0; i < 3; ++i) {
    const auto work = square_of(i);
    EXPECT_EQ(queue.run(work, SquareQueue::kNoDeadline, [] {}), BatchOutcome::kDone);
    EXPECT_EQ(work->result, i * i);
  }
}

TEST(BatchQueue, WaitsForCallersThatPrepareAndTakesThemTogether) {
  SquareQueue queue({.max_batch = 8, .max_delay = 1h});
  SquareConsumer consumer(queue);
  std::atomic<int> preparing{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const auto work = square_of(2);
      static_cast<void>(queue.run(work, SquareQueue::kNoDeadline, [&] {
        ++preparing;
        while (preparing.load() < 4) std::this_thread::sleep_for(100us);
      }));
    });
  }
  threads.clear();
  consumer.stop();
  EXPECT_EQ(consumer.sizes(), std::vector<std::size_t>{4});
}

TEST(BatchQueue, WaitsNoLongerThanTheDelay) {
  SquareQueue queue({.max_batch = 8, .max_delay = 2ms});
  SquareConsumer consumer(queue);
  std::atomic<bool> go{false};
  std::jthread slow([&] {
    static_cast<void>(queue.run(square_of(3), SquareQueue::kNoDeadline, [&] {
      while (!go.load()) std::this_thread::sleep_for(100us);
    }));
  });
  while (queue.stats().callers < 1) std::this_thread::sleep_for(100us);
  const auto work = square_of(5);
  EXPECT_EQ(queue.run(work, SquareQueue::kNoDeadline, [] {}), BatchOutcome::kDone);
  EXPECT_EQ(work->result, 25);
  go = true;
}

TEST(BatchQueue, RefusesTheCallerThatIsOneTooMany) {
  SquareQueue queue({.max_batch = 1, .max_delay = 0us, .max_callers = 2});
  std::vector<std::jthread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      EXPECT_EQ(queue.run(square_of(1), SquareQueue::kNoDeadline, [] {}), BatchOutcome::kDone);
    });
  }
  wait_until_waiting(queue, 2);
  bool prepared = false;
  EXPECT_EQ(queue.run(square_of(1), SquareQueue::kNoDeadline, [&] { prepared = true; }),
            BatchOutcome::kFull);
  EXPECT_FALSE(prepared);
  EXPECT_EQ(queue.stats().refused, 1U);
  const SquareConsumer consumer(queue);
  threads.clear();
}

TEST(BatchQueue, LetsCallersLeaveAtTheirDeadline) {
  SquareQueue queue({.max_batch = 1, .max_delay = 0us});
  // Nobody computes: it leaves the queue with its work.
  EXPECT_EQ(queue.run(square_of(1), SquareQueue::Clock::now() + 5ms, [] {}), BatchOutcome::kLate);
  EXPECT_EQ(queue.stats().waiting, 0U);
  // It has passed before the work was prepared.
  EXPECT_EQ(queue.run(square_of(1), SquareQueue::Clock::now() - 1ms, [] {}), BatchOutcome::kLate);
  // While it is being computed.
  SquareConsumer consumer(queue);
  consumer.held = true;
  EXPECT_EQ(queue.run(square_of(1), SquareQueue::Clock::now() + 20ms, [] {}), BatchOutcome::kLate);
  consumer.held = false;
  const auto next = square_of(7);
  EXPECT_EQ(queue.run(next, SquareQueue::Clock::now() + 1h, [] {}), BatchOutcome::kDone);
  EXPECT_EQ(next->result, 49);
  EXPECT_EQ(queue.stats().late, 3U);
}

TEST(BatchQueue, LetsAnErrorOfPreparingOutAndGoesOn) {
  SquareQueue queue({.max_batch = 4, .max_delay = 1h});
  const SquareConsumer consumer(queue);
  EXPECT_THROW(static_cast<void>(queue.run(square_of(1), SquareQueue::kNoDeadline,
                                           [] { throw std::runtime_error("damaged"); })),
               std::runtime_error);
  EXPECT_EQ(queue.stats().callers, 0U);
  EXPECT_EQ(queue.run(square_of(1), SquareQueue::kNoDeadline, [] {}), BatchOutcome::kDone);
}

TEST(BatchQueue, ServesThoseInsideWhenItIsStopped) {
  SquareQueue queue({.max_batch = 4, .max_delay = 1h});
  std::atomic<int> done{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      const auto work = square_of(t);
      const auto outcome =
          queue.run(work, SquareQueue::kNoDeadline, [] { std::this_thread::sleep_for(5ms); });
      if (outcome == BatchOutcome::kDone && work->result == t * t) ++done;
    });
  }
  while (queue.stats().callers < 16) std::this_thread::sleep_for(100us);
  SquareConsumer consumer(queue);
  consumer.stop();
  threads.clear();
  EXPECT_EQ(queue.stats().callers, 0U);
  EXPECT_EQ(done.load(), 16);
  EXPECT_EQ(queue.run(square_of(1), SquareQueue::kNoDeadline, [] {}), BatchOutcome::kStopped);
}

}  // namespace
}  // namespace stoker

// BatchQueue<Work>: many threads bring one piece of work each; one thread does several of them at
// once.
//
//   caller:   queue.run(work, deadline, [&] { read(*work); })     waits until it is done
//   consumer: for (auto batch = queue.take(); !batch.empty(); batch = queue.take()) {
//               compute(batch);
//               queue.finish(batch);
//             }
//
// A batch begins with what waits. The consumer waits for more only while other callers are
// preparing theirs, and at most max_delay after the first. So a caller that is alone never waits
// for anybody.
//
// A caller whose deadline passes leaves at once, also while its work is being computed: the work is
// shared, and the consumer may still finish it.
//
// run() may be called by any number of threads, take() and finish() by one thread at a time. The
// object must outlive all calls.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace stoker {

struct BatchQueueOptions {
  std::size_t max_batch = 32;
  std::chrono::microseconds max_delay{2000};
  std::size_t max_callers = 0;  // in run() at once; one more is refused. 0: any number
};

enum class BatchOutcome : std::uint8_t { kDone, kFull, kLate, kStopped };

// A moment's view, and sums since the beginning.
struct BatchQueueStats {
  std::size_t callers = 0, waiting = 0;
  std::uint64_t batches = 0, done = 0, refused = 0, late = 0;
};

// Base of what a caller brings. What it holds besides belongs to the caller before run() returns
// from preparing and after kDone, else to the consumer.
class BatchWork {
 private:
  template <class Work>
  friend class BatchQueue;
  enum class State : std::uint8_t { kNew, kWaiting, kTaken, kDone };
  State state_ = State::kNew;
  std::condition_variable done_;
};

template <class Work>
class BatchQueue {
 public:
  using Clock = std::chrono::steady_clock;
  using Batch = std::vector<std::shared_ptr<Work>>;
  static constexpr Clock::time_point kNoDeadline = Clock::time_point::max();

  explicit BatchQueue(const BatchQueueOptions& options) : options_(options) {}

  // What `prepare` throws comes out, and the work is not done. A queue that is full refuses before
  // anything is prepared.
  template <class Prepare>
  [[nodiscard]] BatchOutcome run(const std::shared_ptr<Work>& work, Clock::time_point deadline,
                                 Prepare&& prepare) {
    Caller caller(*this);
    if (const BatchOutcome entered = caller.enter(); entered != BatchOutcome::kDone) return entered;
    prepare();
    return caller.wait(work, deadline);
  }

  // Waits for work. Empty after stop(), once all callers that came before it have been served.
  [[nodiscard]] Batch take() {
    std::unique_lock lock(mutex_);
    for (;;) {
      news_.wait(lock, [this] { return !waiting_.empty() || (stopped_ && preparing_ == 0); });
      if (waiting_.empty()) return {};
      news_.wait_until(lock, first_since_ + options_.max_delay, [this] {
        return waiting_.empty() || waiting_.size() >= options_.max_batch || preparing_ == 0;
      });
      if (!waiting_.empty()) return take_waiting();
    }
  }

  void finish(const Batch& batch) {
    const std::lock_guard lock(mutex_);
    ++stats_.batches;
    for (const std::shared_ptr<Work>& work : batch) {
      base(*work).state_ = BatchWork::State::kDone;
      base(*work).done_.notify_one();
    }
  }

  // Callers that come from now on are refused.
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    news_.notify_all();
  }

  [[nodiscard]] BatchQueueStats stats() const {
    const std::lock_guard lock(mutex_);
    BatchQueueStats stats = stats_;
    stats.waiting = waiting_.size();
    return stats;
  }

 private:
  // One call of run(), whichever way it ends.
  class Caller {
   public:
    explicit Caller(BatchQueue& queue) : queue_(queue) {}
    ~Caller() {
      if (!entered_) return;
      const std::lock_guard lock(queue_.mutex_);
      if (preparing_) queue_.end_preparing();
      --queue_.stats_.callers;
    }
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;

    [[nodiscard]] BatchOutcome enter() {
      const std::lock_guard lock(queue_.mutex_);
      if (queue_.stopped_) return BatchOutcome::kStopped;
      const std::size_t most = queue_.options_.max_callers;
      if (most != 0 && queue_.stats_.callers >= most) {
        ++queue_.stats_.refused;
        return BatchOutcome::kFull;
      }
      ++queue_.stats_.callers;
      ++queue_.preparing_;
      entered_ = preparing_ = true;
      return BatchOutcome::kDone;
    }

    [[nodiscard]] BatchOutcome wait(const std::shared_ptr<Work>& work, Clock::time_point deadline) {
      std::unique_lock lock(queue_.mutex_);
      preparing_ = false;
      const bool in_time = deadline == kNoDeadline || Clock::now() < deadline;
      if (in_time) queue_.add(work);
      queue_.end_preparing();
      if (in_time && queue_.wait_done(lock, *work, deadline)) {
        ++queue_.stats_.done;
        return BatchOutcome::kDone;
      }
      ++queue_.stats_.late;
      return BatchOutcome::kLate;
    }

   private:
    BatchQueue& queue_;
    bool entered_ = false, preparing_ = false;
  };

  // Access to what is private to BatchWork, whatever Work adds.
  static BatchWork& base(Work& work) noexcept { return work; }

  // All below: the lock is held.
  void end_preparing() {
    --preparing_;
    news_.notify_all();
  }
  void add(const std::shared_ptr<Work>& work) {
    if (waiting_.empty()) first_since_ = Clock::now();
    base(*work).state_ = BatchWork::State::kWaiting;
    waiting_.push_back(work);
  }
  [[nodiscard]] bool wait_done(std::unique_lock<std::mutex>& lock, Work& work,
                               Clock::time_point deadline) {
    BatchWork& item = base(work);
    const auto is_done = [&] { return item.state_ == BatchWork::State::kDone; };
    if (deadline == kNoDeadline) {
      item.done_.wait(lock, is_done);
      return true;
    }
    if (item.done_.wait_until(lock, deadline, is_done)) return true;
    if (item.state_ == BatchWork::State::kWaiting) {
      std::erase_if(waiting_, [&](const auto& other) { return other.get() == &work; });
      news_.notify_all();
    }
    return false;
  }
  [[nodiscard]] Batch take_waiting() {
    const auto end = waiting_.begin() +
                     static_cast<std::ptrdiff_t>(std::min(waiting_.size(), options_.max_batch));
    Batch batch(waiting_.begin(), end);
    waiting_.erase(waiting_.begin(), end);
    for (const std::shared_ptr<Work>& work : batch) base(*work).state_ = BatchWork::State::kTaken;
    // What is left has waited for a batch already.
    if (!waiting_.empty()) first_since_ = Clock::time_point::min();
    return batch;
  }

  const BatchQueueOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable news_;  // for the consumer
  std::deque<std::shared_ptr<Work>> waiting_;
  Clock::time_point first_since_;  // of the first in waiting_
  std::size_t preparing_ = 0;      // callers that have entered and not brought their work yet
  bool stopped_ = false;
  BatchQueueStats stats_;
};

}  // namespace stoker

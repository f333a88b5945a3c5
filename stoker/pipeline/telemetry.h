// How a feed measures what it tells about itself (feed_stats.h). Measuring costs next to nothing:
// stages are timed for one sample in kTimedEvery, and the share holds for all.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "stoker/pipeline/feed_stats.h"

namespace stoker {

// A series of any length in bounded memory: when it is full, neighbours are averaged and each point
// stands for twice as many values from then on. One writer; not for two threads.
class BoundedSeries {
 public:
  static constexpr std::size_t kMaxPoints = 256;  // even
  void add(double value);
  [[nodiscard]] const std::vector<double>& points() const noexcept { return points_; }

 private:
  std::vector<double> points_;
  std::uint64_t values_per_point_ = 1;
  std::uint64_t pending_ = 0;  // values in sum_, not yet a point
  double sum_ = 0;
};

// One worker's counters. Written by that worker alone, read by anyone: relaxed atomics without
// read-modify-write, on cache lines of its own.
class alignas(64) WorkerTimes {
 public:
  static constexpr std::uint64_t kTimedEvery =
      17;  // no multiple of a run of places, whose first one is the slowest
  using Clock = std::chrono::steady_clock;

  struct Sums {
    std::uint64_t samples = 0, store_ns = 0, read_ns = 0, augment_ns = 0, write_ns = 0,
                  blocked_ns = 0;
  };
  [[nodiscard]] Sums sums() const noexcept;
  // Whether the worker should time the sample it is about to make.
  [[nodiscard]] bool time_next() const noexcept {
    return samples_.load(std::memory_order_relaxed) % kTimedEvery == 0;
  }
  void count_sample() noexcept { add(samples_, 1); }
  void add_stages(Clock::duration read, Clock::duration augment, Clock::duration write) noexcept;
  void add_store(std::uint64_t ns) noexcept { add(store_ns_, ns); }
  void add_blocked(std::uint64_t ns) noexcept { add(blocked_ns_, ns); }

 private:
  static void add(std::atomic<std::uint64_t>& counter, std::uint64_t value) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
  }
  std::atomic<std::uint64_t> samples_{0}, store_ns_{0}, read_ns_{0}, augment_ns_{0}, write_ns_{0},
      blocked_ns_{0};
};

// Fractions of the sum over all workers; all zero before the first sample.
[[nodiscard]] StageShares stage_shares(const std::vector<WorkerTimes::Sums>& workers);

}  // namespace stoker

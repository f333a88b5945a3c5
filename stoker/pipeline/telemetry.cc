#include "stoker/pipeline/telemetry.h"

namespace stoker {

void BoundedSeries::add(double value) {
  sum_ += value;
  if (++pending_ < values_per_point_) return;
  points_.push_back(sum_ / static_cast<double>(pending_));
  sum_ = 0;
  pending_ = 0;
  if (points_.size() < kMaxPoints) return;
  for (std::size_t i = 0; i < kMaxPoints / 2; ++i) {
    points_[i] = (points_[2 * i] + points_[2 * i + 1]) / 2;
  }
  points_.resize(kMaxPoints / 2);
  values_per_point_ *= 2;
}

WorkerTimes::Sums WorkerTimes::sums() const noexcept {
  return {.samples = samples_.load(std::memory_order_relaxed),
          .store_ns = store_ns_.load(std::memory_order_relaxed),
          .read_ns = read_ns_.load(std::memory_order_relaxed),
          .augment_ns = augment_ns_.load(std::memory_order_relaxed),
          .write_ns = write_ns_.load(std::memory_order_relaxed),
          .blocked_ns = blocked_ns_.load(std::memory_order_relaxed)};
}

void WorkerTimes::add_stages(Clock::duration read, Clock::duration augment,
                             Clock::duration write) noexcept {
  // Each timed sample stands for kTimedEvery of them.
  const auto scaled = [](Clock::duration time) {
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(time).count()) * kTimedEvery;
  };
  add(read_ns_, scaled(read));
  add(augment_ns_, scaled(augment));
  add(write_ns_, scaled(write));
}

StageShares stage_shares(const std::vector<WorkerTimes::Sums>& workers) {
  double store = 0, read = 0, augment = 0, write = 0, blocked = 0;
  for (const auto& worker : workers) {
    store += static_cast<double>(worker.store_ns);
    read += static_cast<double>(worker.read_ns);
    augment += static_cast<double>(worker.augment_ns);
    write += static_cast<double>(worker.write_ns);
    blocked += static_cast<double>(worker.blocked_ns);
  }
  const double sum = store + read + augment + write + blocked;
  if (!(sum > 0)) return {};
  return {.store = store / sum,
          .read = read / sum,
          .augment = augment / sum,
          .write = write / sum,
          .blocked = blocked / sum};
}

}  // namespace stoker

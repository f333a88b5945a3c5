// How often work may be done that should take only a small fraction of the time, such as saving.
// One thread asks and begins; the work may end on another.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

namespace stoker {

class Pace {
 public:
  // At once at first; then whenever the work, at the cost it had last, stays below the share.
  explicit Pace(double share) : share_(share) {}

  // Not while the work is under way.
  [[nodiscard]] bool is_due() const {
    if (under_way_.load(std::memory_order_acquire)) return false;
    return !ended_ || std::chrono::duration<double>(Clock::now() - *ended_).count() >= wait_;
  }
  void begin() {
    started_ = Clock::now();
    under_way_.store(true, std::memory_order_relaxed);
  }
  void end() {
    ended_ = Clock::now();
    wait_ = std::chrono::duration<double>(*ended_ - started_).count() / share_;
    under_way_.store(false, std::memory_order_release);
  }
  template <class Work>
  void run(Work&& work) {
    begin();
    std::forward<Work>(work)();
    end();
  }

 private:
  using Clock = std::chrono::steady_clock;
  double share_;
  std::atomic<bool> under_way_ = false;
  Clock::time_point started_;
  std::optional<Clock::time_point> ended_;
  double wait_ = 0;
};

}  // namespace stoker

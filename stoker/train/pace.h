// How often work may be done that should take only a small fraction of the time, such as saving.
// One thread.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

namespace stoker {

class Pace {
 public:
  // At once at first; then whenever the work, at the cost it had last, stays below the share.
  explicit Pace(double share) : share_(share) {}

  [[nodiscard]] bool is_due() const {
    return !ended_ || std::chrono::duration<double>(Clock::now() - *ended_).count() >= wait_;
  }
  template <class Work>
  void run(Work&& work) {
    const auto start = Clock::now();
    std::forward<Work>(work)();
    ended_ = Clock::now();
    wait_ = std::chrono::duration<double>(*ended_ - start).count() / share_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  double share_;
  std::optional<Clock::time_point> ended_;
  double wait_ = 0;
};

}  // namespace stoker

// How much the newest batch counts in the running statistics of batch norms that are trained.
#pragma once

#include <optional>

namespace stoker {

// While one lives, that is `share` in this thread, whatever a layer's own is. With 1/n for batch
// number n, counted from 1, the statistics are the mean over all batches. At most one a thread.
// Norms of torch::nn in registered networks keep their own.
class RunningShare {
 public:
  explicit RunningShare(double share) { of_thread_ = share; }
  ~RunningShare() { of_thread_.reset(); }
  RunningShare(const RunningShare&) = delete;
  RunningShare& operator=(const RunningShare&) = delete;

  // Of a layer whose own is `usual`.
  [[nodiscard]] static double or_usual(double usual) noexcept { return of_thread_.value_or(usual); }

 private:
  inline static thread_local std::optional<double> of_thread_;
};

}  // namespace stoker

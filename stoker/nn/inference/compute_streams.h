// Threads that each compute alone: work is divided by images, not within an operator, so nobody
// waits at the end of each operator, and results do not depend on how many threads there are.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace stoker {

class ComputeStreams {
 public:
  explicit ComputeStreams(int threads);
  ~ComputeStreams();
  ComputeStreams(const ComputeStreams&) = delete;
  ComputeStreams& operator=(const ComputeStreams&) = delete;

  // Calls `work` with 0 to count - 1, in any order, and returns after the last. LibTorch uses one
  // thread in each call. Rethrows the first exception. One caller at a time.
  void run(std::size_t count, const std::function<void(std::size_t)>& work);

  [[nodiscard]] int size() const noexcept { return static_cast<int>(threads_.size()); }

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::size_t count_ = 0, next_ = 0, left_ = 0;
  std::exception_ptr error_;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;  // last: ends before what it uses
};

}  // namespace stoker

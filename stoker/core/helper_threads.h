// Threads that kernels share: started when first wanted, then kept, because starting one takes 15
// µs and a kernel often less than 500.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>

#include <sys/types.h>

#include "stoker/core/gate.h"

namespace stoker {

class HelperThreads {
 public:
  // Never destroyed: its threads may sleep until the process ends.
  [[nodiscard]] static HelperThreads& of_process();

  // Calls job(i), which must not throw, once for each i of [0, count), here and on up to `helpers`
  // threads; returns when all have returned. Who is awake takes the next i, so a thread that comes
  // late delays nothing. While another call is under way, and in a process that was forked from the
  // one with the threads, the caller does it all.
  void run(int count, int helpers, const std::function<void(int)>& job);

 private:
  HelperThreads();
  void start(int helpers);
  void serve();
  void take_jobs(const std::function<void(int)>& job) noexcept;

  const pid_t process_;
  std::atomic<bool> busy_{false};
  std::atomic<std::uint64_t> rounds_{0};
  std::atomic<int> next_{0}, active_{0};
  Gate more_, done_;
  std::mutex mutex_;  // of what follows, and of active_ going up
  int started_ = 0, places_ = 0, count_ = 0;
  const std::function<void(int)>* job_ = nullptr;
};

}  // namespace stoker

// Counting the threads of this process, for tests that threads end; and finding its child.
#pragma once

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include <unistd.h>

#include "stoker/core/test_files.h"

namespace stoker::test {

inline int threads_now() {
  // ThreadSanitizer starts a thread of its own together with the first of ours.
  static const bool warmed_up = (std::thread([] {}).join(), true);
  static_cast<void>(warmed_up);
  return entries_in("/proc/self/task");
}

// Waits for `reached`: a thread that was joined can stay in the kernel's list for a moment.
template <class Reached>
bool threads_reach(Reached reached) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (!reached(threads_now())) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

inline bool threads_become(int expected) {
  return threads_reach([expected](int now) { return now == expected; });
}

// No more than before. Under qemu, one that was joined long ago may have been counted then.
inline bool threads_end(int before) {
  return threads_reach([before](int now) { return now <= before; });
}

// The one process that the main thread has started and nobody has waited for; 0: there is none.
inline pid_t only_child() {
  pid_t child = 0;
  std::ifstream("/proc/self/task/" + std::to_string(getpid()) + "/children") >> child;
  return child;
}

}  // namespace stoker::test

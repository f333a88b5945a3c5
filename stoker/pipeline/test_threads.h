// Counting the threads of this process, for tests that threads end.
#pragma once

#include <chrono>
#include <filesystem>
#include <iterator>
#include <thread>

namespace stoker::test {

inline int threads_now() {
  // ThreadSanitizer starts a thread of its own together with the first of ours.
  static const bool warmed_up = (std::thread([] {}).join(), true);
  static_cast<void>(warmed_up);
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

// A thread that was joined can stay in the kernel's list for a moment.
inline bool threads_become(int expected) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (threads_now() != expected) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace stoker::test

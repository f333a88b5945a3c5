// Calls a function for every number below `count`, in several threads. The first exception ends it
// and is thrown once all threads are gone.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace stoker::detail {

template <class Function>
void each_in_parallel(std::size_t count, int threads, const Function& function) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        function(i);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (error == nullptr) error = std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> others;
    const std::size_t most = std::min(count, static_cast<std::size_t>(std::max(threads, 1)));
    for (std::size_t i = 1; i < most; ++i) others.emplace_back(work);
    work();
  }
  if (error != nullptr) std::rethrow_exception(error);
}

}  // namespace stoker::detail

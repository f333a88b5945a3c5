// Watchdog: notices a worker that has been busy with one sample for too long, and tells which. A
// thread of its own that looks a few times in the given period; workers pay one store a sample.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace stoker {

// What a worker is doing. Written by that worker alone.
struct alignas(64) WorkerActivity {
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::atomic<std::uint64_t> sample{kNone};  // index in the source; none while it waits for room
  std::atomic<std::uint64_t> begun{0};       // samples begun so far
};

struct Stall {
  int worker = 0;
  std::uint64_t sample = 0;
  double seconds = 0;  // at least
};

class Watchdog {
 public:
  // Calls `on_stall` once for each sample that takes longer than `limit`. The activities must
  // outlive it.
  Watchdog(const std::vector<WorkerActivity>& activities, std::chrono::milliseconds limit,
           std::function<void(const Stall&)> on_stall);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch();
  void look();

  struct Seen {
    std::uint64_t begun = 0;
    std::chrono::steady_clock::time_point since;
    bool told = false;
  };
  const std::vector<WorkerActivity>& activities_;
  std::chrono::milliseconds limit_;
  std::function<void(const Stall&)> on_stall_;
  std::vector<Seen> seen_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace stoker

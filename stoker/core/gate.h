// Gate: where threads sleep until a condition on atomics holds. Eight bytes, no lock, no
// allocation; a process that dies while sleeping leaves nothing locked, so a gate may lie in shared
// memory.
//
// Why not std::atomic::wait: it has no time-out and does not work between processes. Why not a
// condition variable: every change of state would have to take its mutex, also when nobody sleeps.
// Here the change costs one extra load then.
//
// Rule: the condition reads only sequentially consistent atomics, and whoever changes one of them
// calls notify_all() afterwards; it does not throw. Then no wake-up is lost:
//   - the sleeper counts itself in, then reads the condition; the waker changes the condition, then
//     reads the count. In the single order of those four, at least one sees the other's write.
//   - if the waker saw the count, it moves tickets_: either the sleeper still held the old ticket,
//     and the kernel refuses to let it sleep or wakes it, or it took the new one, and then its look
//     at the condition comes after the change.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace stoker {

class Gate {
 public:
  using Clock = std::chrono::steady_clock;

  // Returns when `ready()` is true.
  template <class Ready>
  void wait(Ready ready) noexcept(noexcept(ready())) {
    static_cast<void>(wait_until(ready, Clock::time_point::max()));
  }

  // Returns whether `ready()` became true before the deadline.
  template <class Ready>
  [[nodiscard]] bool wait_until(Ready ready,
                                Clock::time_point deadline) noexcept(noexcept(ready())) {
    while (!ready()) {
      if (deadline != Clock::time_point::max() && Clock::now() >= deadline) return false;
      sleepers_.fetch_add(1);
      const std::uint32_t ticket = tickets_.load();
      if (!ready()) sleep(ticket, deadline);
      sleepers_.fetch_sub(1);
    }
    return true;
  }

  void notify_all() noexcept {
    if (sleepers_.load() == 0) return;
    tickets_.fetch_add(1);
    wake_all();
  }

 private:
  // Sleeps unless tickets_ has moved on; may return early.
  void sleep(std::uint32_t ticket, Clock::time_point deadline) noexcept;
  void wake_all() noexcept;

  std::atomic<std::uint32_t> tickets_{0};
  std::atomic<std::uint32_t> sleepers_{0};
};

}  // namespace stoker

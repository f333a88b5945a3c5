#include "stoker/core/gate.h"

#include <climits>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace stoker {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t),
              "the kernel reads a word");

// Without FUTEX_PRIVATE_FLAG, so that a gate in shared memory works between processes.
void Gate::sleep(std::uint32_t ticket, Clock::time_point deadline) noexcept {
  timespec timeout{};
  const timespec* limit = nullptr;
  if (deadline != Clock::time_point::max()) {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - Clock::now());
    if (left.count() <= 0) return;
    timeout = {.tv_sec = left.count() / 1'000'000'000, .tv_nsec = left.count() % 1'000'000'000};
    limit = &timeout;
  }
  syscall(SYS_futex, &tickets_, FUTEX_WAIT, ticket, limit, nullptr, 0);
}

void Gate::wake_all() noexcept {
  syscall(SYS_futex, &tickets_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace stoker

#include "stoker/pipeline/watchdog.h"

#include <utility>

namespace stoker {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kLooksPerLimit = 4;

}  // namespace

Watchdog::Watchdog(const std::vector<WorkerActivity>& activities, std::chrono::milliseconds limit,
                   std::function<void(const Stall&)> on_stall)
    : activities_(activities),
      limit_(limit),
      on_stall_(std::move(on_stall)),
      seen_(activities.size(), Seen{.since = Clock::now()}),
      thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, limit_ / kLooksPerLimit, [this] { return stopping_; })) look();
}

void Watchdog::look() {
  const auto now = Clock::now();
  for (std::size_t i = 0; i < activities_.size(); ++i) {
    const std::uint64_t begun = activities_[i].begun.load(std::memory_order_acquire);
    const std::uint64_t sample = activities_[i].sample.load(std::memory_order_acquire);
    Seen& seen = seen_[i];
    if (begun != seen.begun || sample == WorkerActivity::kNone) {
      seen = {.begun = begun, .since = now};
      continue;
    }
    if (seen.told || now - seen.since < limit_) continue;
    seen.told = true;
    on_stall_({.worker = static_cast<int>(i),
               .sample = sample,
               .seconds = std::chrono::duration<double>(now - seen.since).count()});
  }
}

}  // namespace stoker

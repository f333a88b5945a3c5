#include "stoker/core/helper_threads.h"

#include <chrono>
#include <system_error>
#include <thread>

#include <unistd.h>

namespace stoker {
namespace {

// About what sleeping and waking cost: whoever asks again within it finds the threads awake.
constexpr std::chrono::microseconds kAwake{50};

template <class Ready>
void wait_awake_first(Gate& gate, const Ready& ready) {
  const auto end = std::chrono::steady_clock::now() + kAwake;
  while (!ready()) {
    if (std::chrono::steady_clock::now() >= end) return gate.wait(ready);
  }
}

}  // namespace

HelperThreads& HelperThreads::of_process() {
  static auto* const threads = new HelperThreads;
  return *threads;
}

HelperThreads::HelperThreads() : process_(getpid()) {}

void HelperThreads::take_jobs(const std::function<void(int)>& job) noexcept {
  for (int i = next_.fetch_add(1); i < count_; i = next_.fetch_add(1)) job(i);
}

void HelperThreads::serve() {
  for (std::uint64_t seen = 0;;) {
    wait_awake_first(more_, [&] { return rounds_.load() != seen; });
    const std::function<void(int)>* job = nullptr;
    {
      const std::lock_guard lock(mutex_);
      seen = rounds_.load();
      if (places_ == 0) continue;
      --places_;
      active_.fetch_add(1);
      job = job_;
    }
    take_jobs(*job);
    active_.fetch_sub(1);
    done_.notify_all();
  }
}

void HelperThreads::start(int helpers) {
  try {
    for (; started_ < helpers; ++started_) std::thread([this] { serve(); }).detach();
  } catch (const std::system_error&) {
    // No more threads to be had: those that are there, and the caller, do it.
  }
}

void HelperThreads::run(int count, int helpers, const std::function<void(int)>& job) {
  if (helpers <= 0 || getpid() != process_ || busy_.exchange(true)) {
    for (int i = 0; i < count; ++i) job(i);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    start(helpers);
    places_ = helpers;
    count_ = count;
    job_ = &job;
    next_.store(0);
    rounds_.fetch_add(1);
  }
  more_.notify_all();
  take_jobs(job);
  {
    const std::lock_guard lock(mutex_);
    places_ = 0;  // who has not come by now finds nothing to do
  }
  wait_awake_first(done_, [&] { return active_.load() == 0; });
  busy_.store(false);
}

}  // namespace stoker

#include "stoker/store/retry.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "stoker/core/rng.h"

namespace stoker {
namespace {

// In [0.5, 1): of the process and the moment, because it shall differ between them and changes
// nothing but when something is asked for.
double jitter() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  Rng rng({.seed = static_cast<std::uint64_t>(::getpid()),
           .epoch = 0,
           .sample = static_cast<std::uint64_t>(now)},
          0);
  return rng.uniform(0.5, 1.0);
}

void sleep_unless_stopped(std::chrono::milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any never;
  never.wait_for(lock, stop, time, [] { return false; });
}

}  // namespace

Retries::Retries(const RetryOptions& options, std::string path, std::stop_token stop)
    : options_(options), path_(std::move(path)), stop_(std::move(stop)) {}

void Retries::after(const AttemptFailed& failure) {
  ++failed_;
  if (stop_.stop_requested()) {
    throw Error({.what = "reading from the store was given up", .path = path_});
  }
  if (!failure.worth_retrying || failed_ >= options_.tries) {
    throw Error({.what = "cannot use the store",
                 .path = path_,
                 .found = failed_ == 1
                              ? std::string(failure.what())
                              : fmt::format("{}, at the last of {} tries", failure.what(), failed_),
                 .hint = failure.worth_retrying
                             ? "The store is down, overloaded or cannot be reached."
                             : "Check the address, the credentials and what they may do."});
  }
  const int doublings = std::min(failed_ - 1, 20);
  std::chrono::milliseconds wait =
      std::min(options_.first_wait * (1 << doublings), options_.longest_wait);
  wait = std::chrono::milliseconds(
      static_cast<std::int64_t>(static_cast<double>(wait.count()) * jitter()));
  if (failure.retry_after) {
    wait = std::clamp<std::chrono::milliseconds>(*failure.retry_after, wait, options_.longest_wait);
  }
  sleep_unless_stopped(wait, stop_);
}

}  // namespace stoker

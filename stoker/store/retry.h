// When and how often something that failed is tried again: bounded, later each time, and never by
// all who failed at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>

#include "stoker/core/error.h"
#include "stoker/store/store_options.h"

namespace stoker {

// One attempt failed.
struct AttemptFailed : std::runtime_error {
  AttemptFailed(const std::string& reason, bool again,
                std::optional<std::chrono::seconds> asked_for = {})
      : std::runtime_error(reason), worth_retrying(again), retry_after(asked_for) {}
  bool worth_retrying;
  std::optional<std::chrono::seconds> retry_after;  // what the server asked for
};

// The attempts of one operation; belongs to one thread.
class Retries {
 public:
  Retries(const RetryOptions& options, std::string path, std::stop_token stop);
  // Waits until the next attempt may be made: between a half and all of first_wait * 2^n, or what
  // the server asked for, at most longest_wait. Throws Error where it is not to be made.
  void after(const AttemptFailed& failure);

 private:
  RetryOptions options_;
  std::string path_;
  std::stop_token stop_;
  int failed_ = 0;
};

// Calls `attempt` until it does not throw AttemptFailed; throws Error when it shall not be called
// again.
template <class Attempt>
auto with_retries(const RetryOptions& options, const std::string& path, const std::stop_token& stop,
                  const Attempt& attempt) {
  Retries retries(options, path, stop);
  while (true) {
    try {
      return attempt();
    } catch (const AttemptFailed& failure) {
      retries.after(failure);
    }
  }
}

}  // namespace stoker

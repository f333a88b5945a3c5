#include "stoker/cli/long_work.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "stoker/cli/command.h"
#include "stoker/cli/screen_text.h"

namespace stoker {

LongWork::LongWork(std::string label, std::uint64_t total, std::string after_stop)
    : progress_(label, total),
      label_(std::move(label)),
      after_stop_(std::move(after_stop)),
      total_(total),
      end_(signals_, [this](int signal) {
        const std::unique_lock lock(mutex_, std::try_to_lock);  // its holder may be stuck
        if (lock) tell(signal);
      }) {}

void LongWork::update(std::uint64_t done) {
  const std::scoped_lock lock(mutex_);
  advance_to(done);
}

void LongWork::add(std::uint64_t more) {
  const std::scoped_lock lock(mutex_);
  advance_to(done_ + more);
}

void LongWork::advance_to(std::uint64_t done) {
  done_ = done;
  const int signal = signals_.received();
  if (signal == 0) return progress_.update(done);
  tell(signal);
  throw ExitRequest{kStoppedExitCode};
}

void LongWork::tell(int signal) {
  if (std::exchange(told_, true)) return;
  progress_.clear();
  show(stderr, fmt::format("stoker: {}: stopped by SIG{} after {} of {}; {}\n", label_,
                           sigabbrev_np(signal), done_, total_, after_stop_));
}

void LongWork::clear() {
  end_.cancel();
  const std::scoped_lock lock(mutex_);
  progress_.clear();
}

}  // namespace stoker

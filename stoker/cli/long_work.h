// Long work of a command: its progress, and a clean end when the user asks for one with Ctrl-C,
// also where a sample is waited for that does not come.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "stoker/cli/progress.h"
#include "stoker/cli/timely_end.h"
#include "stoker/core/stop_signals.h"

namespace stoker {

// One at a time in a process. Thread safe.
class LongWork {
 public:
  // `after_stop` says what became of the work so far: "no file was written".
  LongWork(std::string label, std::uint64_t total, std::string after_stop);

  // Once a signal has come, says so and throws ExitRequest.
  void update(std::uint64_t done);
  void add(std::uint64_t more);
  // Removes the bar, so that a line of results takes its place. The work is done: a signal no
  // longer ends it.
  void clear();

 private:
  void advance_to(std::uint64_t done);
  void tell(int signal);

  StopSignals signals_;
  std::mutex mutex_;
  Progress progress_;
  std::string label_, after_stop_;
  std::uint64_t total_, done_ = 0;
  bool told_ = false;
  TimelyEnd end_;  // last: its thread uses the others
};

}  // namespace stoker

// A wish to stop ends the process also where the thread that should see it waits for a store or a
// disk that does not answer: some seconds after the signal, with the exit code of stopped commands.
// Only where nothing is lost by that: before a run has begun, and where a command has written
// nothing yet. Any thread may call it.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "stoker/core/stop_signals.h"

namespace stoker {

class TimelyEnd {
 public:
  static constexpr std::chrono::milliseconds kPatience{5000};

  // `say` is called before the end, from another thread. `signals` must outlive this object.
  TimelyEnd(const StopSignals& signals, std::function<void(int signal)> say,
            std::chrono::milliseconds patience = kPatience);

  // From now on the process ends only by itself.
  void cancel() noexcept { waiting_.request_stop(); }

 private:
  std::jthread waiting_;
};

}  // namespace stoker

#include "stoker/cli/timely_end.h"

#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <stop_token>
#include <utility>

#include <unistd.h>

#include "stoker/cli/command.h"

namespace stoker {
namespace {

constexpr std::chrono::milliseconds kTick{50};

// False where somebody asked to stop waiting.
bool wait(const std::stop_token& stop, std::chrono::milliseconds time) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any never;
  never.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

// What was printed so far. A thread that is stuck may hold the stream.
void flush_output() {
  if (::ftrylockfile(stdout) != 0) return;
  std::fflush(stdout);
  ::funlockfile(stdout);
}

}  // namespace

TimelyEnd::TimelyEnd(const StopSignals& signals, std::function<void(int signal)> say,
                     std::chrono::milliseconds patience)
    : waiting_([&signals, say = std::move(say), patience](const std::stop_token& stop) {
        while (signals.received() == 0) {
          if (!wait(stop, kTick)) return;
        }
        if (!wait(stop, patience)) return;
        say(signals.received());
        flush_output();
        ::_exit(kStoppedExitCode);  // destructors would wait for the thread that is stuck
      }) {}

}  // namespace stoker

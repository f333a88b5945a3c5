#include "stoker/core/stop_signals.h"

#include <array>
#include <csignal>

#include <signal.h>

namespace stoker {
namespace {

constexpr std::array<int, 4> kSignals = {SIGTERM, SIGINT, SIGUSR1, SIGHUP};

// What a handler may touch.
volatile std::sig_atomic_t received_signal = 0;
std::array<struct sigaction, kSignals.size()> old_actions;

void note_signal(int signal) { received_signal = signal; }

}  // namespace

StopSignals::StopSignals() {
  received_signal = 0;
  struct sigaction action = {};
  action.sa_handler = note_signal;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    const bool is_hangup = kSignals[i] == SIGHUP;
    action.sa_flags = SA_RESTART;
    if (!is_hangup) action.sa_flags |= SA_RESETHAND;  // the second one acts by default
    ::sigaction(kSignals[i], nullptr, &old_actions[i]);
    if (is_hangup && old_actions[i].sa_handler == SIG_IGN) continue;
    ::sigaction(kSignals[i], &action, nullptr);
  }
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &old_actions[i], nullptr);
  }
}

int StopSignals::received() const noexcept { return received_signal; }

}  // namespace stoker

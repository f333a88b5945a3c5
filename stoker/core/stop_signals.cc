#include "stoker/core/stop_signals.h"

#include <array>
#include <csignal>

#include <signal.h>

namespace stoker {
namespace {

constexpr std::array<int, 3> kSignals = {SIGTERM, SIGINT, SIGUSR1};

// What a handler may touch.
volatile std::sig_atomic_t received_signal = 0;
std::array<struct sigaction, kSignals.size()> old_actions;

void note_signal(int signal) { received_signal = signal; }

}  // namespace

StopSignals::StopSignals() {
  received_signal = 0;
  struct sigaction action = {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART | SA_RESETHAND;  // the second one acts by default
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &action, &old_actions[i]);
  }
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &old_actions[i], nullptr);
  }
}

int StopSignals::received() const noexcept { return received_signal; }

}  // namespace stoker

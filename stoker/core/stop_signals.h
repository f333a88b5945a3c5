// SIGTERM, SIGINT, SIGUSR1 (Slurm's warning) and SIGHUP (the terminal is gone) as a wish to stop:
// the run finishes its step, saves and ends. A second signal of the same kind acts as it would
// without us: who presses Ctrl-C twice means it. Not so SIGHUP, which a closing terminal may send
// twice. Where SIGHUP is ignored from the start, as by nohup, it stays so.
#pragma once

namespace stoker {

// One at a time in a process; the old handlers are back when it goes.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // The signal that asked to stop; 0: none has. From any thread.
  [[nodiscard]] int received() const noexcept;
};

}  // namespace stoker

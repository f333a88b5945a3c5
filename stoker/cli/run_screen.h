// What a person at a terminal sees of a training run: a progress bar, and the lines of its log in
// place of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "stoker/cli/progress.h"
#include "stoker/cli/timely_end.h"
#include "stoker/core/stop_signals.h"
#include "stoker/run/run_events.h"

namespace stoker {

class RunScreen final : public Observer {
 public:
  // Refers to this object and to the signals. `before_run` is cancelled when the run has begun to
  // ask whether it should stop.
  [[nodiscard]] RunEvents events(const StopSignals& signals, TimelyEnd& before_run);

  void features_done(std::uint64_t done, std::uint64_t total) override;
  void step_done(const StepReport& report) override;
  void validation_failed(const State& state) override;

 private:
  void show_line(const std::string& line);
  void show_progress(const std::string& work, std::uint64_t done, std::uint64_t total);
  void clear();

  std::unique_ptr<Progress> progress_;
};

}  // namespace stoker

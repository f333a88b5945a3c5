// Training runs that another command starts as processes of their own, one after the other. What is
// done is seen from the runs' files, so the whole can be stopped or killed anywhere and resumed.
#pragma once

#include <filesystem>
#include <string>

#include "stoker/cli/sweep_plan.h"
#include "stoker/core/stop_signals.h"

namespace stoker {

// Does nothing where the run is finished; resumes one that was broken off. `resume` is the command
// that resumes the whole, for messages. Throws ExitRequest where it was asked to stop, Error where
// the run failed.
void complete_run(const SweepRun& run, const std::filesystem::path& folder,
                  const StopSignals& signals, const std::string& resume);

}  // namespace stoker

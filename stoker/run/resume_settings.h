// What resuming a run does to its settings: they are those of its folder, but for what is given
// anew and may differ.
#pragma once

#include <string>

#include "stoker/run/run_folder.h"
#include "stoker/run/train_run.h"

namespace stoker {

// In place of "auto": the run to resume, or nothing. True where the folder may be there already, of
// a run that was killed before it had written its settings.
bool resolve_resume(RunSettings& run);

// The folder of the run to resume, with its settings in the request. A larger number of epochs is
// written there. Throws Error where there is no run, or the schedule forbids another number.
[[nodiscard]] RunFolder open_resumed(RunRequest& request);
// What its args.yaml holds, for other ranks.
[[nodiscard]] std::string resumed_settings(const RunFolder& folder);
// The same for a rank that got them from rank 0.
void apply_resumed(RunRequest& request, const std::string& yaml, const std::string& name);

// Settings of a checkpoint as a resumed run compares them with its own.
[[nodiscard]] std::string comparable_yaml(const std::string& yaml, const RunSettings& run);

}  // namespace stoker

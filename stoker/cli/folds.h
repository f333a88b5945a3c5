// Cross-validation: `stoker train --folds K` trains K runs, one for each fold, in one folder:
//   folds.yaml    the flags of all of them
//   fold-I/       the run that validates on fold I
//   folds.json    mean and spread of their accuracies
//   report.html   the runs compared
// Resumed by `stoker train --resume FOLDER`, whatever ended it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "stoker/run/train_run.h"

namespace stoker {

// The folder that --resume names, where that is one of folds.
[[nodiscard]] std::optional<std::filesystem::path> folds_to_resume(const RunSettings& run);

// All runs that are not finished, then the comparison. Throws Error where the folder's settings
// cannot be read or a run failed, ExitRequest where it was asked to stop.
void complete_folds(const std::filesystem::path& folder);

// Makes the folder, with the settings that are given; a new name from `default_name` where they
// name none. Throws Error where it already exists, unless with --resume auto.
[[nodiscard]] std::filesystem::path make_folds_folder(const RunRequest& request,
                                                      const std::string& default_name);

}  // namespace stoker

// The runs of a cross-validation, from the files in its folder.
#pragma once

#include <filesystem>
#include <vector>

namespace stoker {

inline constexpr const char* kFoldsSettingsFile = "folds.yaml";

[[nodiscard]] bool is_folds_folder(const std::filesystem::path& folder);

// fold-0, fold-1, … in their order; none where the folder is not one of `stoker train --folds`.
[[nodiscard]] std::vector<std::filesystem::path> fold_folders(const std::filesystem::path& folder);

}  // namespace stoker

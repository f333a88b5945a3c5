// The runs of a cross-validation, from the files in its folder.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace stoker {

inline constexpr const char* kFoldsSettingsFile = "folds.yaml";

// "fold-3": the folder of a run in that of the cross-validation.
[[nodiscard]] std::string fold_name(std::size_t fold);

[[nodiscard]] bool is_folds_folder(const std::filesystem::path& folder);

// fold-0, fold-1, … in their order; none where the folder is not one of `stoker train --folds`.
[[nodiscard]] std::vector<std::filesystem::path> fold_folders(const std::filesystem::path& folder);

}  // namespace stoker

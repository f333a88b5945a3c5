#include "stoker/run/fold_folders.h"

#include <system_error>

#include <fmt/format.h>

namespace stoker {

namespace fs = std::filesystem;

std::string fold_name(std::size_t fold) { return fmt::format("fold-{}", fold); }

bool is_folds_folder(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / kFoldsSettingsFile, ignored);
}

std::vector<fs::path> fold_folders(const fs::path& folder) {
  std::vector<fs::path> folds;
  if (!is_folds_folder(folder)) return folds;
  for (fs::path fold = folder / fold_name(0); fs::is_directory(fold);
       fold = folder / fold_name(folds.size())) {
    folds.push_back(fold);
  }
  return folds;
}

}  // namespace stoker

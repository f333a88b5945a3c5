#include "stoker/cli/output_files.h"

#include <filesystem>

#include "stoker/core/error.h"

namespace stoker {

void OutputFiles::add_to(const Command& command) {
  command.add_flag("--force", force_, "overwrite files that exist");
}

void OutputFiles::check(std::initializer_list<std::string> paths) const {
  if (force_) return;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_regular_file(path)) continue;
    throw Error({.what = "the file exists",
                 .path = path,
                 .hint = "Choose another name, or overwrite it with --force."});
  }
}

}  // namespace stoker

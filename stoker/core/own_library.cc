#include "stoker/core/own_library.h"

#include <filesystem>
#include <system_error>

#include <dlfcn.h>

namespace stoker {

std::vector<std::string> own_library_paths(const std::string& file_name) {
  namespace fs = std::filesystem;
  std::vector<std::string> found;
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed).parent_path();
  if (!failed) {
    for (const fs::path& folder : {program / "lib", program.parent_path() / "lib", program}) {
      if (fs::exists(folder / file_name, failed)) found.push_back((folder / file_name).string());
    }
  }
  found.push_back(file_name);
  return found;
}

void* open_own_library(const std::string& file_name, int flags) {
  for (const std::string& path : own_library_paths(file_name)) {
    if (void* library = ::dlopen(path.c_str(), flags)) return library;
  }
  return nullptr;
}

}  // namespace stoker

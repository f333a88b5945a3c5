#include "stoker/core/own_library.h"

#include <filesystem>
#include <system_error>

#include <dlfcn.h>

namespace stoker {
namespace {

namespace fs = std::filesystem;

// Of the shared library that contains this function. For a program it is what the user typed, which
// may be a bare name: empty then, or a library of the current folder could be loaded.
fs::path own_folder() {
  Dl_info info = {};
  if (::dladdr(reinterpret_cast<const void*>(&own_library_paths), &info) == 0 ||
      info.dli_fname == nullptr || !fs::path(info.dli_fname).is_absolute()) {
    return {};
  }
  std::error_code failed;
  return fs::weakly_canonical(info.dli_fname, failed).parent_path();
}

}  // namespace

std::vector<std::string> own_library_paths(const std::string& file_name) {
  std::vector<std::string> found;
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed).parent_path();
  const fs::path own = own_folder();
  for (const fs::path& folder : {program / "lib", program.parent_path() / "lib" / "stoker", program,
                                 own / "stoker", own.parent_path() / "stoker"}) {
    if (folder.is_absolute() && fs::exists(folder / file_name, failed))
      found.push_back((folder / file_name).string());
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

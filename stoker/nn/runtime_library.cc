#include "stoker/nn/runtime_library.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/core/python_packages.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

void append_from(const fs::path& folder, const std::string& file, std::vector<fs::path>& found) {
  std::vector<fs::path> here;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (entry->path().filename().string().starts_with(file)) here.push_back(entry->path());
  }
  std::ranges::sort(here);
  found.insert(found.end(), here.begin(), here.end());
}

}  // namespace

std::vector<fs::path> runtime_candidates(const RuntimeLibrary& library) {
  std::vector<fs::path> found;
  if (const char* given = std::getenv(library.variable); given != nullptr) {
    append_from(given, library.file, found);
    append_from(fs::path(given) / library.folder, library.file, found);
    return found;
  }
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const char* environment = std::getenv(name);
    if (environment == nullptr) continue;
    for (const fs::path& package : python_packages(environment, library.package)) {
      append_from(package / library.folder, library.file, found);
    }
  }
  // Of a wheel: site-packages/stoker/bin beside the package.
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  append_from(program.parent_path().parent_path().parent_path() / library.package / library.folder,
              library.file, found);
  found.emplace_back(library.file);  // where the system looks
  return found;
}

void* open_runtime(const RuntimeLibrary& library) {
  std::vector<std::string> reasons;
  for (const fs::path& candidate : runtime_candidates(library)) {
    void* handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) return handle;
    reasons.emplace_back(dlerror());
  }
  throw Error({.what = fmt::format("there is no {}", library.name),
               .expected = library.file,
               .found = reasons.empty() ? fmt::format("none in {}", library.variable)
                                        : fmt::format("{}", fmt::join(reasons, "; ")),
               .hint = fmt::format("Install it (pip install {}), or name its folder {}: {}=FOLDER",
                                   library.package, library.folder, library.variable)});
}

}  // namespace stoker

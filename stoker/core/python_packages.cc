#include "stoker/core/python_packages.h"

#include <algorithm>
#include <system_error>

namespace stoker {

namespace fs = std::filesystem;

std::vector<fs::path> python_packages(const fs::path& environment, const std::string& name) {
  std::vector<fs::path> found;
  std::error_code failed;
  for (fs::directory_iterator entry(environment / "lib", failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (entry->path().filename().string().starts_with("python3")) {
      found.push_back(entry->path() / "site-packages" / name);
    }
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace stoker

#include "stoker/core/abandoned_files.h"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <system_error>

#include <sys/types.h>
#include <unistd.h>

namespace stoker {
namespace {

namespace fs = std::filesystem;

// The number at the beginning, if a '-' follows.
int number_before_dash(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool dash = end != text.data() + text.size() && *end == '-';
  return error == std::errc{} && dash && number > 0 ? number : 0;
}

bool runs(int process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

}  // namespace

int process_of_temporary(std::string_view name) {
  constexpr std::string_view kFile = ".stoker-", kFolder = "stoker-shards-";
  if (name.starts_with(kFile) && name.ends_with(".tmp")) {
    return number_before_dash(name.substr(kFile.size()));
  }
  return name.starts_with(kFolder) ? number_before_dash(name.substr(kFolder.size())) : 0;
}

std::size_t remove_abandoned_files(const fs::path& folder) {
  std::size_t removed = 0;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const int process = process_of_temporary(at->path().filename().native());
    if (process == 0 || runs(process)) continue;
    std::error_code ignored;
    if (fs::remove_all(at->path(), ignored) > 0 && !ignored) ++removed;
  }
  return removed;
}

}  // namespace stoker

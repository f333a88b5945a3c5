#include "stoker/cli/openmp_wait.h"

#include <array>
#include <climits>
#include <cstddef>
#include <string_view>

#include <sys/auxv.h>
#include <unistd.h>

namespace stoker {
namespace {

constexpr std::array<std::string_view, 5> kTorchCommands = {"train", "eval", "predict", "export",
                                                            "devices"};
constexpr std::array<std::string_view, 2> kUsersSettings = {"GOMP_SPINCOUNT=", "OMP_WAIT_POLICY="};
// Lines of an environment; a longer one is left as it is.
constexpr std::size_t kMostLines = 8192;

bool is_torch_command(std::string_view word) noexcept {
  for (const std::string_view command : kTorchCommands) {
    if (word == command) return true;
  }
  return false;
}

bool is_users_setting(std::string_view line) noexcept {
  for (const std::string_view setting : kUsersSettings) {
    if (line.substr(0, setting.size()) == setting) return true;
  }
  return false;
}

// Started by the dynamic linker as its argument: /proc/self/exe is the linker then.
bool is_run_by_linker() noexcept { return ::getauxval(AT_BASE) == 0; }

}  // namespace

bool needs_short_spinning(int argc, const char* const* argv,
                          const char* const* environment) noexcept {
  if (argc < 2 || !is_torch_command(argv[1])) return false;
  for (int i = 2; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--help" || word == "-h") return false;  // computes nothing
  }
  for (const char* const* line = environment; *line != nullptr; ++line) {
    if (is_users_setting(*line)) return false;
  }
  return true;
}

void restart_with_short_spinning(int argc, char** argv, char** environment) noexcept {
  if (!needs_short_spinning(argc, argv, environment) || is_run_by_linker()) return;
  static std::array<char*, kMostLines + 2> lines;
  std::size_t count = 0;
  for (; environment[count] != nullptr; ++count) {
    if (count == kMostLines) return;
    lines[count] = environment[count];
  }
  lines[count] = const_cast<char*>(kShortSpinning);  // execve() does not write
  lines[count + 1] = nullptr;
  // By its path, so that the process keeps its name; the link where the file was replaced.
  static std::array<char, PATH_MAX + 1> path;
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), PATH_MAX);
  if (length <= 0) return;
  path[static_cast<std::size_t>(length)] = '\0';
  ::execve(path.data(), argv, lines.data());
  ::execve("/proc/self/exe", argv, lines.data());
}

}  // namespace stoker

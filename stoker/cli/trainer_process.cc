#include "stoker/cli/trainer_process.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <unistd.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kProgram = "stoker", kTrainer = "stoker-trainer";
constexpr std::array<std::string_view, 5> kTorchCommands = {"train", "eval", "predict", "export",
                                                            "devices"};
constexpr std::array<std::string_view, 2> kUsersSettings = {"GOMP_SPINCOUNT=", "OMP_WAIT_POLICY="};

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

void become_trainer(int argc, char** argv) {
  const fs::path trainer = fs::read_symlink("/proc/self/exe").parent_path() / kTrainer;
  if (!fs::exists(trainer)) return;
  if (needs_short_spinning(argc, argv, environ)) ::setenv(kSpinName, kSpinValue, 1);
  ::execv(trainer.c_str(), argv);
  throw Error({.what = "cannot start the trainer",
               .path = trainer.string(),
               .found = std::strerror(errno)});
}

std::string program_path() {
  const fs::path self = fs::read_symlink("/proc/self/exe");
  return (self.filename() == kTrainer ? self.parent_path() / kProgram : self).string();
}

}  // namespace stoker

#include "stoker/cli/trainer_process.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <unistd.h>

#include "stoker/cli/find_libtorch.h"
#include "stoker/core/error.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kProgram = "stoker", kTrainer = "stoker-trainer";
constexpr std::array<std::string_view, 7> kTorchCommands = {
    "train", "eval", "predict", "calibrate", "serve", "export", "devices"};
#ifdef STOKER_TORCH_VERSION
constexpr std::string_view kTorchVersion = STOKER_TORCH_VERSION;
#else
constexpr std::string_view kTorchVersion = "";  // a build without a trainer
#endif
constexpr const char* kLibraryPath = "LD_LIBRARY_PATH";
constexpr const char* kPathBefore = "STOKER_LIBRARY_PATH_BEFORE";
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

// Commands of stoker-trainer alone.
bool is_trainer_command(std::string_view word) noexcept {
  return is_torch_command(word) || word == "sweep" || word == "settings" || word == "doctor";
}

// Beside the program in a build, in lib/stoker where it is installed. Empty where there is none.
fs::path trainer_of(const fs::path& folder) {
  for (const fs::path& place : {folder, folder.parent_path() / "lib" / "stoker"}) {
    if (fs::exists(place / kTrainer)) return place / kTrainer;
  }
  return {};
}

// For the loader, which reads it once, before main(). The trainer puts back what the user had.
void add_library_path(const fs::path& libraries) {
  const char* value = std::getenv(kLibraryPath);
  const std::string before = value == nullptr ? "" : value;
  ::setenv(kPathBefore, before.c_str(), 1);
  ::setenv(kLibraryPath, (libraries.string() + (before.empty() ? "" : ":" + before)).c_str(), 1);
}

ErrorDetails missing_libtorch(const LibTorchSearch& search, const fs::path& folder) {
  const std::string version(minor_version(kTorchVersion));
  // Only Debian's packages are installed there.
  const std::string package =
      folder == "/usr/bin" ? "Run apt install stoker-libtorch. Or run" : "Run";
  std::string found = "none";
  for (const std::string& line : search.refused) {
    found = (found == "none" ? "" : found + "; ") + line;
  }
  return {.what = "this command computes with LibTorch, which is not in this package",
          .expected = "LibTorch " + version +
                      " in the active Python environment, in STOKER_LIBTORCH " +
                      "or in lib/stoker/libtorch beside the program",
          .found = found,
          .hint = package + " pip install \"torch==" + version +
                  ".*\" in an active environment, or set " +
                  "STOKER_LIBTORCH to a folder with lib/libtorch_cpu.so."};
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
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path trainer = trainer_of(folder);
  if (trainer.empty()) return;
  // In a build the trainer knows where LibTorch is.
  if (trainer.parent_path() != folder) {
    const LibTorchSearch search = find_libtorch(libtorch_places(folder), kTorchVersion);
    if (search.libraries.empty()) {
      if (argc < 2 || !is_trainer_command(argv[1])) return;
      throw Error(missing_libtorch(search, folder));
    }
    add_library_path(search.libraries);
  }
  if (needs_short_spinning(argc, argv, environ)) ::setenv(kSpinName, kSpinValue, 1);
  ::execv(trainer.c_str(), argv);
  throw Error({.what = "cannot start the trainer",
               .path = trainer.string(),
               .found = std::strerror(errno)});
}

void restore_library_path() {
  const char* before = std::getenv(kPathBefore);
  if (before == nullptr) return;
  if (*before == '\0') {
    ::unsetenv(kLibraryPath);
  } else {
    ::setenv(kLibraryPath, before, 1);
  }
  ::unsetenv(kPathBefore);
}

std::string program_path() {
  const fs::path self = fs::read_symlink("/proc/self/exe");
  if (self.filename() != kTrainer) return self.string();
  const fs::path folder = self.parent_path();
  const fs::path beside = folder / kProgram;
  return (fs::is_regular_file(beside) ? beside
                                      : folder.parent_path().parent_path() / "bin" / kProgram)
      .string();
}

}  // namespace stoker

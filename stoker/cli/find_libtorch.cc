#include "stoker/cli/find_libtorch.h"

#include <array>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "stoker/core/python_packages.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLibrary = "libtorch_cpu.so";
constexpr std::size_t kLongestVersionFile = 4096;

fs::path environment_path(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? fs::path() : fs::path(value);
}

bool is_file(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed);
}

std::string beginning_of(const fs::path& path) {
  std::string text(kLongestVersionFile, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

// "2.15.0" of "2.15.0+cu132".
std::string leading_version(std::string_view text) {
  return std::string(text.substr(0, text.find_first_not_of("0123456789.")));
}

// Of a wheel (version.py) or an unpacked LibTorch (build-version). Empty where neither tells.
std::string version_of(const fs::path& root) {
  if (is_file(root / "build-version")) return leading_version(beginning_of(root / "build-version"));
  const std::string text = beginning_of(root / "version.py");
  const std::size_t name = text.find("__version__ =");
  if (name == std::string::npos) return "";
  const std::size_t digit = text.find_first_of("0123456789", name);
  return digit == std::string::npos ? "" : leading_version(std::string_view(text).substr(digit));
}

std::vector<fs::path> roots_in(const LibTorchPlaces& places) {
  // "lib" itself is what LD_LIBRARY_PATH would take; be content with it.
  if (!places.given.empty()) {
    return {is_file(places.given / kLibrary) ? places.given.parent_path() : places.given};
  }
  std::vector<fs::path> roots;
  const fs::path prefix = places.program.parent_path();
  // Where it was when Stoker was built, if that is also where it is installed.
  std::string known = beginning_of(prefix / "lib" / "stoker" / "libtorch-path");
  if (const std::size_t end = known.find('\n'); end != std::string::npos) known.resize(end);
  if (!known.empty()) roots.emplace_back(known);
  for (const fs::path& environment : places.environments) {
    if (environment.empty()) continue;
    for (fs::path& root : python_packages(environment, "torch")) roots.push_back(std::move(root));
  }
  if (!places.program.empty()) {
    // Of an archive or a Debian package; of a wheel: site-packages/stoker/bin beside torch.
    roots.push_back(prefix / "lib" / "stoker" / "libtorch");
    roots.push_back(prefix.parent_path() / "torch");
  }
  return roots;
}

}  // namespace

std::string_view minor_version(std::string_view version) noexcept {
  const std::size_t first = version.find('.');
  return first == std::string_view::npos ? version
                                         : version.substr(0, version.find('.', first + 1));
}

LibTorchPlaces libtorch_places(const fs::path& program) {
  return {.given = environment_path("STOKER_LIBTORCH"),
          .environments = {environment_path("VIRTUAL_ENV"), environment_path("CONDA_PREFIX")},
          .program = program};
}

LibTorchSearch find_libtorch(const LibTorchPlaces& places, std::string_view wanted) {
  LibTorchSearch search;
  for (const fs::path& root : roots_in(places)) {
    if (!is_file(root / "lib" / kLibrary)) {
      if (!places.given.empty())
        search.refused.push_back(root.string() + ": no lib/libtorch_cpu.so");
      continue;
    }
    const std::string version = version_of(root);
    if (minor_version(version) == minor_version(wanted)) {
      search.libraries = root / "lib";
      return search;
    }
    search.refused.push_back(root.string() + ": " +
                             (version.empty() ? "unknown version" : "version " + version));
  }
  return search;
}

}  // namespace stoker

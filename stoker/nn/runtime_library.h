// Libraries of other runtimes, found when they are first wanted: neither building Stoker nor
// starting it needs them.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace stoker {

struct RuntimeLibrary {
  std::string name;      // for people: "OpenVINO"
  std::string file;      // "libopenvino_c.so", with or without a version behind it
  const char* variable;  // of the environment; names a folder, and nothing else counts with it
  std::string package;   // of Python
  std::string folder;    // in the package
};

// Files that may be the library, in the order in which they are tried: in the variable's folder,
// or: the package in a Python environment, beside the wheel of Stoker, where the system looks.
[[nodiscard]] std::vector<std::filesystem::path> runtime_candidates(const RuntimeLibrary& library);

// A handle for dlsym(). Throws Error, which says where it was looked for, where there is none.
[[nodiscard]] void* open_runtime(const RuntimeLibrary& library);

// Frees with one of the library's functions.
template <typename Thing>
using RuntimeOwned = std::unique_ptr<Thing, void (*)(Thing*)>;

}  // namespace stoker

// Where LibTorch is. Packages of Stoker do not contain it: most users have it in a Python
// environment already, and it is fifty times as large as all of Stoker.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// Where to look, in this order. Empty paths are not looked at.
struct LibTorchPlaces {
  std::filesystem::path given = {};  // STOKER_LIBTORCH; nothing else counts with it
  std::vector<std::filesystem::path> environments =
      {};                              // Python environments: VIRTUAL_ENV, CONDA_PREFIX
  std::filesystem::path program = {};  // the folder of `stoker`
};

[[nodiscard]] LibTorchPlaces libtorch_places(const std::filesystem::path& program);

struct LibTorchSearch {
  std::filesystem::path libraries;   // the folder with libtorch_cpu.so; empty where none fits
  std::vector<std::string> refused;  // "/opt/torch: version 2.14.0", in the order of the search
};

// The first LibTorch whose major and minor version are those of `wanted` ("2.15.0"): its functions
// are linked by name, and other versions have others.
[[nodiscard]] LibTorchSearch find_libtorch(const LibTorchPlaces& places, std::string_view wanted);

// "2.15" of "2.15.0".
[[nodiscard]] std::string_view minor_version(std::string_view version) noexcept;

}  // namespace stoker

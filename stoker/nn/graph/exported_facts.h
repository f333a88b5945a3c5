// What scripts/export_network.py writes into a .pt2 file about the network. Nothing of it is
// needed: a file of another program has none.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace stoker {

struct ExportedFacts {
  std::string name;           // "convnext_tiny"; else that of the file
  int height = 0, width = 0;  // of the images that it was exported for; 0: not known
  // How the network's own library prepares images, to be shown: empty where the file does not tell.
  std::string library = {}, interpolation = {};
  std::vector<double> mean = {}, deviation = {};
  std::optional<double> crop = {};
};

// `text` is ExportedProgram::facts().
[[nodiscard]] ExportedFacts parse_exported_facts(const std::string& text,
                                                 const std::filesystem::path& path);
// Throws Error where the file cannot be read.
[[nodiscard]] ExportedFacts read_exported_facts(const std::filesystem::path& path);

}  // namespace stoker

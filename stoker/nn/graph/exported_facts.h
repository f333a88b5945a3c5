// What scripts/export_network.py writes into a .pt2 file about the network. Nothing of it is
// needed: a file of another program has none.
#pragma once

#include <filesystem>
#include <string>

namespace stoker {

struct ExportedFacts {
  std::string name;           // "convnext_tiny"; else that of the file
  int height = 0, width = 0;  // of the images that it was exported for; 0: not known
};

// `text` is ExportedProgram::facts().
[[nodiscard]] ExportedFacts parse_exported_facts(const std::string& text,
                                                 const std::filesystem::path& path);
// Throws Error where the file cannot be read.
[[nodiscard]] ExportedFacts read_exported_facts(const std::filesystem::path& path);

}  // namespace stoker

// What `stoker info` prints of one file.
#pragma once

#include <filesystem>

namespace stoker {

// Prints what a file of weights, a .pt2 or an .onnx file holds, as text or as one JSON object.
// Throws Error where it cannot be read.
void describe_file(const std::filesystem::path& path, bool as_json);

}  // namespace stoker

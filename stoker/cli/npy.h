// Writes a batch's pixels as a NumPy file (.npy, version 1.0), so that Python can look at them.
#pragma once

#include <filesystem>

#include "stoker/pipeline/batch.h"

namespace stoker {

// Shape [samples, channels, height, width] of float32, or [samples, height, width, channels] of
// uint8. Throws Error where the file cannot be written.
void write_npy(const std::filesystem::path& path, const Batch& batch);

}  // namespace stoker

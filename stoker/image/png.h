// Writes images as PNG: grey or RGB, 8 bits, without loss.
// Functions without state, safe from any thread. Encoding takes up to 80 ns a byte of pixels (pure
// noise) and holds the compressed file in memory. A file appears under its name complete or not at
// all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "stoker/image/image.h"

namespace stoker {

// The bytes of a PNG file. Rows may have gaps. Throws Error for a shape that check_shape refuses.
[[nodiscard]] std::vector<std::byte> encode_png(const ImageView& image);

// Writes under a temporary name in the same folder, then renames, so that a reader never sees half
// a file and a full disk leaves an older file of that name untouched. A link is followed; a device
// or pipe (/dev/stdout) is written in place. Throws Error with the path where anything fails.
void write_png(const std::filesystem::path& path, const ImageView& image);

}  // namespace stoker

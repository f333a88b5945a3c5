// The one thing that Stoker wants of EXIF: how the image has to be turned.
// Functions without state; O(entries of the first directory), no memory.
#pragma once

#include <cstddef>
#include <span>

namespace stoker::detail {

// 1 … 8 from a TIFF block, with or without "Exif\0\0" before it. 1 where it is damaged, missing or
// out of range: metadata that cannot be read costs no image.
[[nodiscard]] int exif_orientation(std::span<const std::byte> block);

}  // namespace stoker::detail

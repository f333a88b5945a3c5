// Writes images as JPEG: grey or RGB, 8 bits, chroma halved both ways (the usual 4:2:0), Huffman
// tables made for the image. Without state, safe from any thread; the same pixels and quality
// make the same bytes.
#pragma once

#include <cstddef>
#include <vector>

#include "stoker/image/image.h"

namespace stoker {

// 1 <= quality <= 100, as libjpeg has it. Throws Error for another, or a side over 65,500.
[[nodiscard]] std::vector<std::byte> encode_jpeg(const ImageView& image, int quality);

}  // namespace stoker

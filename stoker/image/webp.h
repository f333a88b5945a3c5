// Encodes images as WebP with loss: thumbnails of a tenth of the bytes that PNG takes. For looking
// at, not for data. A function without state, safe from any thread; it holds the compressed file in
// memory.
#pragma once

#include <cstddef>
#include <vector>

#include "stoker/image/image.h"

namespace stoker {

// The bytes of a WebP file; quality from 0 to 100. Rows may have gaps. Throws Error for a shape
// that check_shape refuses or a side of more than 16,383 pixels, which the format does not have.
[[nodiscard]] std::vector<std::byte> encode_webp(const ImageView& image, int quality = 75);

}  // namespace stoker

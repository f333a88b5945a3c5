// PNG through libpng: 1 to 16 bits, palettes, transparency, interlace. One a thread.
// Of the chunks only those are read that make pixels, so that texts and colour profiles, which may
// unpack to any size, cost nothing. Rows below the region are not read, nor unpacked.
#pragma once

#include <span>

#include "stoker/core/result.h"
#include "stoker/image/detail/codec.h"

namespace stoker::detail {

class PngDecoder {
 public:
  [[nodiscard]] Result<StoredHeader> open(std::span<const std::byte> bytes);
  // Pixels lie in `memory`.
  [[nodiscard]] Result<StoredPixels> decode(const StoredRequest& request, PixelBuffer& memory);

 private:
  std::span<const std::byte> bytes_;
  StoredHeader header_;
  PixelBuffer work_;  // a row, or all rows of an interlaced image
};

}  // namespace stoker::detail

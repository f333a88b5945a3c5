// BMP: palettes, bit fields, run lengths, from the bottom up or the top down. One a thread.
// Written here because the format is small: a library would be one more parser of hostile files.
// Only the region's rows are read, but run lengths from the first row on.
#pragma once

#include <cstddef>
#include <span>

#include "stoker/core/result.h"
#include "stoker/image/detail/bmp_header.h"
#include "stoker/image/detail/codec.h"

namespace stoker::detail {

class BmpDecoder {
 public:
  [[nodiscard]] Result<StoredHeader> open(std::span<const std::byte> bytes);
  // Pixels lie in `memory`.
  [[nodiscard]] Result<StoredPixels> decode(const StoredRequest& request, PixelBuffer& memory);

 private:
  // One byte for each pixel, in the order of the file; null where the file ends before.
  [[nodiscard]] const std::uint8_t* unpack_runs();

  std::span<const std::byte> bytes_;
  BmpLayout layout_;
  PixelBuffer indices_, row_;
};

}  // namespace stoker::detail

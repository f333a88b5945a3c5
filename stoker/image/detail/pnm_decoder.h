// PBM, PGM and PPM (P1 to P6), plain and raw, up to 16 bits, with Pillow's scaling of values.
// One a thread. Raw rows outside of the region are not read; plain text is read up to the region's
// last row.
#pragma once

#include <cstddef>
#include <span>

#include "stoker/core/result.h"
#include "stoker/image/detail/codec.h"

namespace stoker::detail {

class PnmDecoder {
 public:
  [[nodiscard]] Result<StoredHeader> open(std::span<const std::byte> bytes);
  // Pixels lie in `memory`.
  [[nodiscard]] Result<StoredPixels> decode(const StoredRequest& request, PixelBuffer& memory);

 private:
  template <class Value>
  [[nodiscard]] Result<StoredPixels> decode_as(const StoredRequest& request, PixelBuffer& memory);

  std::span<const std::byte> bytes_;
  StoredHeader header_;
  bool plain_ = false;
  int max_value_ = 0;          // 0: bits, where 1 is black
  std::size_t pixels_at_ = 0;  // where the header ends
  PixelBuffer row_;
};

}  // namespace stoker::detail

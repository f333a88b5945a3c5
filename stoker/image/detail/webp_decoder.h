// WebP through libwebp: with and without loss, transparency, the first image of an animation.
// One a thread. A region is decoded with its surroundings only; an animation always whole.
#pragma once

#include <span>

#include "stoker/core/result.h"
#include "stoker/image/detail/codec.h"

namespace stoker::detail {

class WebpDecoder {
 public:
  [[nodiscard]] Result<StoredHeader> open(std::span<const std::byte> bytes);
  // Pixels lie in `memory`.
  [[nodiscard]] Result<StoredPixels> decode(const StoredRequest& request, PixelBuffer& memory);

 private:
  [[nodiscard]] Result<StoredPixels> decode_still(const StoredRequest& request,
                                                  PixelBuffer& memory);
  [[nodiscard]] Result<StoredPixels> decode_animated(const StoredRequest& request,
                                                     PixelBuffer& memory);

  std::span<const std::byte> bytes_;
  StoredHeader header_;
  PixelBuffer work_;  // where pixels have to be converted
};

}  // namespace stoker::detail

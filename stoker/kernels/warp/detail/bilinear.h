// One value of one pixel, the slow obvious way.
#pragma once

#include <cstdint>
#include <type_traits>

#include "stoker/image/image.h"
#include "stoker/kernels/warp/affine.h"

namespace stoker::detail {

// Of 16-bit values, sums need more than 32 bits.
template <class Value>
using BilinearSum = std::conditional_t<sizeof(Value) == 1, int, std::int64_t>;

template <class Value>
[[nodiscard]] BilinearSum<Value> pixel_or_black(const ImageView& in, std::int64_t y, std::int64_t x,
                                                int channel) {
  if (y < 0 || y >= in.shape.height || x < 0 || x >= in.shape.width) return 0;
  return in.values<Value>(static_cast<int>(y))[x * in.shape.channels + channel];
}

// The value at a place in steps of 2^-16 pixel, black outside; the formula stands in warp.h.
template <class Value>
[[nodiscard]] Value bilinear(const ImageView& in, std::int64_t fixed_y, std::int64_t fixed_x,
                             int channel) {
  using Sum = BilinearSum<Value>;
  const std::int64_t x = fixed_x >> kFractionBits, y = fixed_y >> kFractionBits;
  const Sum fx = static_cast<Sum>(fixed_x >> (kFractionBits - kWeightBits)) & 255;
  const Sum fy = static_cast<Sum>(fixed_y >> (kFractionBits - kWeightBits)) & 255;
  const auto pixel = [&](std::int64_t at_y, std::int64_t at_x) {
    return pixel_or_black<Value>(in, at_y, at_x, channel);
  };
  const Sum top = pixel(y, x) * (256 - fx) + pixel(y, x + 1) * fx;
  const Sum bottom = pixel(y + 1, x) * (256 - fx) + pixel(y + 1, x + 1) * fx;
  return static_cast<Value>((top * (256 - fy) + bottom * fy + (1 << 15)) >> 16);
}

}  // namespace stoker::detail

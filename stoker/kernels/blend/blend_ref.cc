#include "stoker/kernels/blend/blend.h"

namespace stoker {

void blend_reference(std::uint8_t* values, const std::uint8_t* base, std::size_t count,
                     float factor) {
  for (std::size_t i = 0; i < count; ++i) values[i] = blend_value(base[i], values[i], factor);
}

void saturate_reference(std::uint8_t* rgb, std::size_t pixels, float factor) {
  for (std::size_t i = 0; i < pixels; ++i, rgb += 3) {
    const int grey = luma(rgb[0], rgb[1], rgb[2]);
    for (int c = 0; c < 3; ++c) rgb[c] = blend_value(grey, rgb[c], factor);
  }
}

std::uint64_t luma_sum_reference(const std::uint8_t* rgb, std::size_t pixels) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < pixels; ++i, rgb += 3) {
    sum += static_cast<std::uint64_t>(luma(rgb[0], rgb[1], rgb[2]));
  }
  return sum;
}

}  // namespace stoker

// Blending as Pillow's Image.blend does it, the arithmetic under its ImageEnhance classes: with
// factor f, value v and base b,
//   b + f (v - b)   in floats, each step rounded once, cut to [0, 255], fraction dropped.
// f = 0 gives the base, 1 the value, more than 1 goes beyond it. Every version gives the same bits.
// Cost: one pass; no memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoker {

[[nodiscard]] inline std::uint8_t blend_value(int base, int value, float factor) noexcept {
  const float scaled = factor * static_cast<float>(value - base);
  const float blended = static_cast<float>(base) + scaled;
  return static_cast<std::uint8_t>(blended <= 0 ? 0 : blended >= 255 ? 255 : blended);
}

// Brightness of a colour, ITU-R 601, as Pillow converts RGB to grey.
[[nodiscard]] inline int luma(int red, int green, int blue) noexcept {
  return (red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16;
}

// values[i] = blend(base[i], values[i]). The arrays do not overlap.
void blend(std::uint8_t* values, const std::uint8_t* base, std::size_t count, float factor);
void blend_reference(std::uint8_t* values, const std::uint8_t* base, std::size_t count,
                     float factor);

// Each channel of each pixel is blended with the pixel's luma: factor 0 makes colours grey.
void saturate(std::uint8_t* rgb, std::size_t pixels, float factor);
void saturate_reference(std::uint8_t* rgb, std::size_t pixels, float factor);

// The sum of the luma of all pixels. pixels < 2^32.
[[nodiscard]] std::uint64_t luma_sum(const std::uint8_t* rgb, std::size_t pixels);
[[nodiscard]] std::uint64_t luma_sum_reference(const std::uint8_t* rgb, std::size_t pixels);

}  // namespace stoker

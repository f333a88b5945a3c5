// Rows of pixels from what a codec gives to what the caller wants, with Pillow's integer formulas.
// Functions without state; input and output do not overlap.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/image/decode.h"

namespace stoker::detail {

// How a codec hands over its rows. kCmyk is stored inverted, as Adobe does and Pillow assumes.
enum class RowFormat : std::uint8_t { kGrey, kRgb, kRgba, kCmyk };
[[nodiscard]] constexpr int channels_of(RowFormat format) {
  return format == RowFormat::kGrey ? 1 : format == RowFormat::kRgb ? 3 : 4;
}

// The row needs no change to have this number of channels.
[[nodiscard]] constexpr bool is_final(RowFormat format, int channels) {
  return (format == RowFormat::kGrey && channels == 1) ||
         (format == RowFormat::kRgb && channels == 3);
}

// Writes `width` pixels of 1 or 3 channels.
void convert_row(std::uint8_t* out, const std::uint8_t* in, std::size_t width, RowFormat format,
                 int channels, const Colour& background);

}  // namespace stoker::detail

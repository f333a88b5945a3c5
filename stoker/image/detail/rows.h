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
  return format != RowFormat::kCmyk && channels_of(format) == channels;
}

// Writes `width` pixels of 1, 3 or 4 channels. With four, alpha stays what it is, and a row
// without it is opaque; else the background shows through. For values of 8 and of 16 bits, of which
// the background's are 257 times as large.
template <class Value>
void convert_row(Value* out, const Value* in, std::size_t width, RowFormat format, int channels,
                 const Colour& background);
extern template void convert_row(std::uint8_t*, const std::uint8_t*, std::size_t, RowFormat, int,
                                 const Colour&);
extern template void convert_row(std::uint16_t*, const std::uint16_t*, std::size_t, RowFormat, int,
                                 const Colour&);

}  // namespace stoker::detail

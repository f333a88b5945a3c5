// Operations that look at one value at a time are a table of 256 bytes, made once for an image.
#pragma once

#include <array>
#include <cstdint>

#include "stoker/image/image.h"

namespace stoker::detail {

using ByteTable = std::array<std::uint8_t, 256>;
using Histogram = std::array<std::uint64_t, 256>;

// table[i] = function(i)
template <class Function>
[[nodiscard]] ByteTable make_table(Function function) {
  ByteTable table{};
  for (int i = 0; i < 256; ++i) table[i] = static_cast<std::uint8_t>(function(i));
  return table;
}

// `image` has no gaps.
void map_values(const MutableImageView& image, const ByteTable& table);
// A table for each channel; of grey images the first.
void map_channels(const MutableImageView& image, const std::array<ByteTable, 3>& tables);

// How often each value occurs in each channel. `image` has no gaps.
[[nodiscard]] std::array<Histogram, 3> histograms(const ImageView& image);

}  // namespace stoker::detail

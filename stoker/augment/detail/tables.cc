#include "stoker/augment/detail/tables.h"

namespace stoker::detail {

void map_values(const MutableImageView& image, const ByteTable& table) {
  const std::size_t count = image.shape.bytes();
  std::uint8_t* values = image.data;
  const std::uint8_t* entries = table.data();
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (std::size_t k = 0; k < 8; ++k) values[i + k] = entries[values[i + k]];
  }
  for (; i < count; ++i) values[i] = entries[values[i]];
}

void map_channels(const MutableImageView& image, const std::array<ByteTable, 3>& tables) {
  if (image.shape.channels == 1) {
    map_values(image, tables[0]);
    return;
  }
  const std::size_t count = image.shape.bytes();
  std::uint8_t* values = image.data;
  const std::uint8_t* entries = tables[0].data();
  for (std::size_t i = 0; i < count; i += 3) {
    values[i] = entries[values[i]];
    values[i + 1] = entries[256 + values[i + 1]];
    values[i + 2] = entries[512 + values[i + 2]];
  }
}

std::array<Histogram, 3> histograms(const ImageView& image) {
  const std::size_t count = image.shape.bytes();
  const std::uint8_t* values = image.data;
  // Neighbours are often equal, and counting into the same place twice in a row waits for memory:
  // three counters take turns, which for colours are the channels.
  std::array<Histogram, 3> counts{};
  std::size_t i = 0;
  for (; i + 3 <= count; i += 3) {
    for (std::size_t c = 0; c < 3; ++c) ++counts[c][values[i + c]];
  }
  if (image.shape.channels == 3) return counts;
  for (; i < count; ++i) ++counts[0][values[i]];
  for (std::size_t value = 0; value < 256; ++value) {
    counts[0][value] += counts[1][value] + counts[2][value];
  }
  return counts;
}

}  // namespace stoker::detail

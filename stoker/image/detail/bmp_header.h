// What the headers of a BMP file say: those of OS/2 1 and 2 and of Windows 3 to 5. No state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "stoker/core/result.h"
#include "stoker/image/detail/codec.h"

namespace stoker::detail {

enum class BmpPacking : std::uint8_t { kRaw, kRle8, kRle4 };

// The bits of a pixel that hold one channel; a mask of 0: the channel is missing.
struct BmpChannel {
  std::uint32_t mask = 0;
  unsigned shift = 0;      // of the mask's lowest bit
  std::uint32_t most = 0;  // the largest value
};

struct BmpLayout {
  StoredHeader header;
  bool top_down = false;
  int bits = 0;  // of a pixel: 1, 4, 8 (places in the palette), 16, 24, 32
  BmpPacking packing = BmpPacking::kRaw;
  std::array<BmpChannel, 4> channels = {};  // red, green, blue, alpha; of 16 bits and more
  std::array<Colour, 256> palette = {};
  std::size_t pixels_at = 0;

  // Rows fill up to four bytes.
  [[nodiscard]] std::size_t used_row_bytes() const {
    const auto row_bits = static_cast<std::size_t>(header.width) * static_cast<std::size_t>(bits);
    return (row_bits + 7) / 8;
  }
  [[nodiscard]] std::size_t row_bytes() const { return (used_row_bytes() + 3) / 4 * 4; }
};

// Refuses what it does not know by name, and a file that ends before its last raw row.
[[nodiscard]] Result<BmpLayout> read_bmp_layout(std::span<const std::byte> bytes);

}  // namespace stoker::detail

// What a directory of a TIFF file says about its image, checked: only layouts that can be decoded
// pass. Functions without state; libtiff has read the directory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "stoker/core/result.h"
#include "stoker/image/detail/codec.h"
#include "stoker/image/detail/tiff_file.h"

namespace stoker::detail {

enum class TiffColours : std::uint8_t { kGrey, kRgb, kPalette, kCmyk };
// kPremultiplied: TIFF's "associated" alpha, by which the colours were multiplied.
enum class TiffAlpha : std::uint8_t { kNone, kStraight, kPremultiplied };

struct TiffLayout {
  StoredHeader header;
  TiffColours colours = TiffColours::kGrey;
  TiffAlpha alpha = TiffAlpha::kNone;
  bool white_is_zero = false;
  bool packed = false, jpeg = false;  // the compression: any, JPEG
  bool tiled = false;
  bool planes = false;  // each channel on its own
  int samples = 1;      // stored for a pixel
  int used = 1;         // those of the colour and of alpha, which come first
  // Sides of a strip or tile, bytes of its row and of all of it; of one plane where there are.
  int segment_width = 0, segment_height = 0;
  std::size_t row_bytes = 0, segment_bytes = 0;
  std::array<Colour, 256> palette = {};
};

// Moves the file to its page. Refuses by name what is not decoded.
[[nodiscard]] Result<TiffLayout> read_tiff_layout(TiffFile& file, int page);

}  // namespace stoker::detail

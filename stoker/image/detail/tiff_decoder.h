// TIFF and BigTIFF through libtiff: strips and tiles, planes, 1 to 16 bits, grey, RGB, palettes and
// CMYK, alpha, LZW, Deflate, PackBits and JPEG. One a thread. Of an image only those strips and
// tiles are read that the region touches, and of a strip no row below it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stoker/core/result.h"
#include "stoker/image/detail/codec.h"
#include "stoker/image/detail/rows.h"
#include "stoker/image/detail/tiff_file.h"
#include "stoker/image/detail/tiff_layout.h"

namespace stoker::detail {

class TiffDecoder {
 public:
  [[nodiscard]] Result<StoredHeader> open(std::span<const std::byte> bytes, int page);
  // Pixels lie in `memory`.
  [[nodiscard]] Result<StoredPixels> decode(const StoredRequest& request, PixelBuffer& memory);

 private:
  // A strip or tile, and the rows and columns of it that lie in the region.
  struct Part {
    int left = 0, top = 0;  // of the strip or tile
    Region inside;          // in pixels of the stored image
  };

  // The segment's values, plane behind plane.
  [[nodiscard]] Result<const std::uint8_t*> load(const Part& part);
  template <class Value>
  void convert(const MutableImageView& out, const StoredRequest& request, const Part& part,
               const std::uint8_t* segment);
  [[nodiscard]] const std::uint8_t* palette_row(const std::uint8_t* segment_row, std::size_t left,
                                                std::size_t width);
  // One row of the part, `width` pixels from column `left` of the segment.
  template <class Value>
  [[nodiscard]] const Value* row_of(const std::uint8_t* segment_row, std::size_t left,
                                    std::size_t width);

  TiffFile file_;
  TiffLayout layout_;
  RowFormat format_ = RowFormat::kGrey;
  PixelBuffer segments_;  // one, or one for each plane that is used
  PixelBuffer values_, row_;
};

}  // namespace stoker::detail

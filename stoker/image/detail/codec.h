// What the codecs and ImageDecoder share: images as they are stored, before EXIF's
// orientation is applied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "stoker/core/error.h"
#include "stoker/image/decode.h"

namespace stoker::detail {

// Bytes that keep their memory between images. Contents are unspecified after reserve().
class PixelBuffer {
 public:
  // Gives memory back only where it is large and mostly unused: one huge image in a set should
  // not stay in every worker.
  [[nodiscard]] std::uint8_t* reserve(std::size_t bytes) {
    constexpr std::size_t kLarge = std::size_t{32} << 20;
    if (bytes > capacity_ || (capacity_ > kLarge && bytes < capacity_ / 4)) {
      data_.reset();  // first, so that both never exist at once
      capacity_ = 0;
      data_ = std::make_unique_for_overwrite<std::uint8_t[]>(bytes);
      capacity_ = bytes;
    }
    return data_.get();
  }

 private:
  std::unique_ptr<std::uint8_t[]> data_;
  std::size_t capacity_ = 0;
};

// The header with width and height as stored, not upright.
using StoredHeader = ImageHeader;

struct StoredRequest {
  Region region;  // inside the stored image
  int scale = 1;  // 1, 2, 4, 8; only JPEG is asked for more than 1
  int channels = 3;
  Colour background;
  int depth = 8;  // 16 only of files whose values have 16 bits

  [[nodiscard]] ImageShape shape() const { return {region.height, region.width, channels, depth}; }
};

struct StoredPixels {
  MutableImageView pixels;  // exactly the region, or what covers it where scaled
  int tolerated = 0;
};

inline ErrorDetails decode_error(ImageFormat format, std::string found, std::uint64_t offset) {
  return {.what = std::string("cannot decode the ") + std::string(format_name(format)) + " image",
          .offset = offset,
          .found = std::move(found)};
}

}  // namespace stoker::detail

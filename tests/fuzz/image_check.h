// What the fuzz targets of the image formats share: any bytes are an image or an error, and a part
// is a part of the whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "stoker/image/decode.h"

namespace stoker::fuzz {

inline void require(bool promise) {
  if (!promise) std::abort();
}

inline void touch(const ImageView& view) {
  std::uint64_t sum = 0;  // so that the sanitizer sees a wrong length
  for (int y = 0; y < view.shape.height; ++y) {
    for (std::size_t x = 0; x < view.shape.bytes_per_row(); ++x) sum += view.row(y)[x];
  }
  require(sum <= 255 * view.shape.bytes());
}

inline void require_part(const ImageView& whole, const ImageView& part, const Region& region) {
  require(part.shape.width == region.width && part.shape.height == region.height);
  for (int y = 0; y < region.height; ++y) {
    const std::uint8_t* expected =
        whole.row(region.top + y) +
        static_cast<std::size_t>(region.left) * whole.shape.bytes_per_pixel();
    require(std::memcmp(expected, part.row(y), part.shape.bytes_per_row()) == 0);
  }
}

// The region's corner and the channels come from the last bytes, which formats ignore or not.
inline Region region_from(std::span<const std::byte> bytes, const ImageHeader& header) {
  const auto draw = [&bytes](std::size_t from_end, int bound) {
    return std::to_integer<int>(bytes[bytes.size() - from_end]) * bound / 256;
  };
  const int left = draw(1, header.width), top = draw(2, header.height);
  return {left, top, 1 + draw(3, header.width - left), 1 + draw(4, header.height - top)};
}

// Channels, depth and window from one byte.
inline DecodeOptions options_from(int byte) {
  DecodeOptions options{.channels = byte % 3 == 0 ? 1 : byte % 3 == 1 ? 3 : 4};
  if (byte % 2 == 1) options.depth = 16;
  if (byte % 16 == 5) options.window = {.low = 100, .high = 3000};
  if (byte % 16 == 7) options.window = {.of_image = true};
  return options;
}

inline void check_decode(std::span<const std::byte> bytes, ImageFormat format) {
  if (sniff_format(bytes) != format) return;
  const DecodeLimits limits{.max_pixels = 1 << 18, .max_scans = 20};
  ImageDecoder whole_decoder(limits), decoder(limits);
  auto header = whole_decoder.open(bytes);
  if (!header) return;
  require(header->width >= 1 && header->height >= 1);
  require(std::int64_t{header->width} * header->height <= limits.max_pixels);
  const Region region = region_from(bytes, *header);
  DecodeOptions options = options_from(std::to_integer<int>(bytes[bytes.size() - 5]));
  auto whole = whole_decoder.decode(options);
  require(decoder.open(bytes).has_value());
  options.region = region;
  auto part = decoder.decode(options);
  if (part) touch(part->pixels);
  if (!whole) return;
  touch(whole->pixels);
  require(part.has_value());
  require_part(whole->pixels, part->pixels, region);
  require(decoder.open(bytes).has_value());
  auto small = decoder.decode({.exact = false, .target_width = 4, .target_height = 4});
  require(small.has_value());
  touch(small->pixels);
}

}  // namespace stoker::fuzz

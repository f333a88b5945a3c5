#include "stoker/image/webp.h"

#include <cstdint>
#include <memory>

#include <fmt/format.h>
#include <webp/encode.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

struct FreeWebp {
  void operator()(std::uint8_t* memory) const { WebPFree(memory); }
};

// WebP has no grey.
Image in_colour(const ImageView& grey) {
  Image colour({.height = grey.shape.height, .width = grey.shape.width, .channels = 3});
  for (int y = 0; y < grey.shape.height; ++y) {
    std::uint8_t* out = colour.view().row(y);
    for (int x = 0; x < grey.shape.width; ++x, out += 3) out[0] = out[1] = out[2] = grey.at(y, x);
  }
  return colour;
}

}  // namespace

std::vector<std::byte> encode_webp(const ImageView& image, int quality) {
  check_shape(image.shape);
  refuse_wide(image.shape, "WebP");
  if (image.shape.channels == 1) return encode_webp(in_colour(image).view(), quality);
  std::uint8_t* memory = nullptr;
  const std::size_t size =
      WebPEncodeRGB(image.data, image.shape.width, image.shape.height,
                    static_cast<int>(image.bytes_per_row), static_cast<float>(quality), &memory);
  const std::unique_ptr<std::uint8_t, FreeWebp> owner(memory);
  if (size == 0) {
    throw Error({.what = "cannot encode the image as WebP",
                 .expected = fmt::format("sides of at most {} pixels", WEBP_MAX_DIMENSION),
                 .found = fmt::format("{}x{}", image.shape.width, image.shape.height)});
  }
  const auto* first = reinterpret_cast<const std::byte*>(memory);
  return {first, first + size};
}

}  // namespace stoker

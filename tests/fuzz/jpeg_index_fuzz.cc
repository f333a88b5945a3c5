// libFuzzer target: any bytes behind a JPEG, as the one for 1/8 of its size, are that JPEG or
// ignored; and what indexed_jpeg() makes of any bytes has their pixels, whole and in part.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stoker/image/detail/jpeg_parts.h"
#include "stoker/image/jpeg.h"
#include "stoker/image/jpeg_index.h"
#include "tests/fuzz/image_check.h"

namespace {

using stoker::ImageDecoder;
namespace fuzz = stoker::fuzz;

constexpr stoker::DecodeLimits kLimits{.max_pixels = 1 << 18, .max_scans = 20};

void check_appended(std::span<const std::byte> bytes) {
  static const std::vector<std::byte> file = [] {
    const stoker::Image image({.height = 72, .width = 160, .channels = 3});
    return stoker::indexed_jpeg(stoker::encode_jpeg(image.view(), 90)).value();
  }();
  std::vector<std::byte> whole = file;
  stoker::detail::append_eighth(whole, bytes);
  ImageDecoder decoder(kLimits);
  fuzz::require(decoder.open(whole).has_value());
  auto image = decoder.decode({.exact = false, .scale = 8});
  fuzz::require(image.has_value() && image->pixels.shape.width == 20 &&
                image->pixels.shape.height == 9);
  fuzz::touch(image->pixels);
}

void check_indexed(std::span<const std::byte> bytes) {
  const auto made = stoker::indexed_jpeg(bytes, kLimits);
  if (!made) return;
  ImageDecoder one(kLimits), other(kLimits);
  const stoker::ImageHeader header = one.open(bytes).value();
  fuzz::require(other.open(*made).value().orientation == header.orientation);
  const stoker::Region region = fuzz::region_from(bytes, header);
  auto whole = one.decode({});
  auto part = other.decode({.region = region});
  fuzz::require(whole.has_value() && part.has_value());
  fuzz::require_part(whole->pixels, part->pixels, region);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  check_appended(bytes);
  if (size >= 4) check_indexed(bytes);
  return 0;
}

// libFuzzer target: any bytes are a TIFF image or an error, whole and in part, on any page.
#include <cstddef>
#include <cstdint>
#include <span>

#include "tests/fuzz/image_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  stoker::fuzz::check_decode(bytes, stoker::ImageFormat::kTiff);
  if (stoker::sniff_format(bytes) != stoker::ImageFormat::kTiff) return 0;
  stoker::ImageDecoder decoder({.max_pixels = 1 << 18});
  for (const int page : {1, 3}) {
    if (!decoder.open(bytes, page)) continue;
    auto image = decoder.decode({});
    if (image) stoker::fuzz::touch(image->pixels);
  }
  return 0;
}

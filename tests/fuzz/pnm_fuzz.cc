// libFuzzer target: any bytes are a PNM image or an error, whole and in part.
#include <cstddef>
#include <cstdint>
#include <span>

#include "tests/fuzz/image_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  stoker::fuzz::check_decode(std::as_bytes(std::span(data, size)), stoker::ImageFormat::kPnm);
  return 0;
}

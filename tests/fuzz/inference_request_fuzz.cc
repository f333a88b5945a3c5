// libFuzzer target: any body is an Error, or a request whose tensors are as long as it says.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "stoker/core/error.h"
#include "stoker/serve/inference_protocol.h"

namespace {

const stoker::InferenceLimits kLimits = {.input = {.height = 2, .width = 3, .channels = 1},
                                         .max_images = 5};

void check(std::string_view body, std::string_view json_bytes) {
  stoker::InferenceRequest request;
  try {
    request = stoker::parse_inference(body, json_bytes, kLimits);
  } catch (const stoker::Error&) {
    return;
  }
  const bool fits = request.images >= 1 && request.images <= kLimits.max_images;
  bool whole = false;
  switch (request.kind) {
    case stoker::InferenceKind::kEncoded:
      whole = request.encoded.size() == request.images;
      break;
    case stoker::InferenceKind::kPixels:
      whole = request.height > 0 && request.width > 0 && request.channels > 0 &&
              request.pixels.size() == request.images * static_cast<std::size_t>(request.height) *
                                           static_cast<std::size_t>(request.width) *
                                           static_cast<std::size_t>(request.channels);
      break;
    case stoker::InferenceKind::kValues:
      whole = request.values.size() == request.images * 6;
      break;
  }
  if (!fits || !whole) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  check(body, "");
  // The first line tells how long the JSON behind it is.
  const std::size_t line = body.find('\n');
  if (line != std::string_view::npos) check(body.substr(line + 1), body.substr(0, line));
  return 0;
}

#include "stoker/kernels/mirror/mirror.h"

namespace stoker {

void mirror_row_reference(std::uint8_t* out, const std::uint8_t* in, std::size_t width,
                          int channels) {
  for (std::size_t x = 0; x < width; ++x) {
    for (int c = 0; c < channels; ++c) out[x * channels + c] = in[(width - 1 - x) * channels + c];
  }
}

}  // namespace stoker

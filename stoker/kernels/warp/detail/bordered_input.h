// The input of the SIMD warp: pixels with a black border, as every target sees it.
#pragma once

#include <cstdint>

namespace stoker::detail {

struct BorderedInput {
  const std::uint8_t* origin;  // pixel (0, 0); two black pixels lie on every side
  std::int32_t bytes_per_row;
  std::int32_t width, height;
};

}  // namespace stoker::detail

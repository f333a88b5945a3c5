// Inputs of the SIMD warp, prepared so that its inner loop needs no test for the image's border; as
// every target sees them.
#pragma once

#include <cstdint>

namespace stoker::detail {

// Pixels with two black ones on every side.
struct BorderedInput {
  const std::uint8_t* origin;  // pixel (0, 0)
  std::int32_t bytes_per_row;
  std::int32_t width, height;
};

// Grey pixels, each together with the one below it: 16 bits a place, so that four bytes from a
// place on are the 2x2 pixels that bilinear interpolation takes there. Twice the memory for half
// the gathers: pays while it fits the first-level cache. A wide black border lets most maps do
// without clamping.
inline constexpr int kMaxPairWidth = 1024;
struct PairInput {
  const std::uint16_t*
      origin;  // place (0, 0): its pixel in the low byte, the one below in the high
  int log2_places_per_row;
  std::int32_t width, height;
  bool reaches_beyond_border;  // some places must be clamped
};

}  // namespace stoker::detail

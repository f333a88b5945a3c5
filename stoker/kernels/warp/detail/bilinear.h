// One value of one pixel, the slow obvious way.
#pragma once

#include <cstdint>

#include "stoker/image/image.h"

namespace stoker::detail {

// The value at a place in steps of 2^-16 pixel, black outside; the formula stands in warp.h.
[[nodiscard]] std::uint8_t bilinear(const ImageView& in, std::int64_t fixed_y, std::int64_t fixed_x,
                                    int channel);

}  // namespace stoker::detail

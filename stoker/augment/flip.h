// Mirroring: left to right, top to bottom.
#pragma once

#include "stoker/augment/operation.h"

namespace stoker {

// out[y][x] = in[y][width - 1 - x]
[[nodiscard]] Image flip_horizontally(const ImageView& image);
// out[y][x] = in[height - 1 - y][x]
[[nodiscard]] Image flip_vertically(const ImageView& image);

[[nodiscard]] OperationSchema hflip_schema();
[[nodiscard]] OperationSchema vflip_schema();

}  // namespace stoker

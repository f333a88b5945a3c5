// Shift by cells: to the left and up, as the assignment has it.
#pragma once

#include "stoker/augment/operation.h"

namespace stoker {

// out[y][x] = in[y + dy][x + dx]: the image moves dx cells to the left and dy up; black fills.
[[nodiscard]] Image shift(const ImageView& image, int dx, int dy);

[[nodiscard]] OperationSchema shift_schema();

}  // namespace stoker

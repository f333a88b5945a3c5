// Skew: each row is moved a little further than the one above it.
#pragma once

#include "stoker/augment/operation.h"

namespace stoker {

// out[y][x] = in[y][x + y * tilt], black outside. Between two cells their values are interpolated;
// where y * tilt is whole, values are moved unchanged.
[[nodiscard]] Image skew(const ImageView& image, double tilt);

[[nodiscard]] OperationSchema skew_schema();

}  // namespace stoker

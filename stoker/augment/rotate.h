// Rotation about the middle of the image.
#pragma once

#include "stoker/augment/operation.h"

namespace stoker {

// Counter-clockwise as seen on a screen; bilinear, black where the input had nothing.
[[nodiscard]] Image rotate(const ImageView& image, double degrees);

[[nodiscard]] OperationSchema rotate_schema();

}  // namespace stoker

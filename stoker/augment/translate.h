// Translation by a fraction of the image's side, in whole pixels.
#pragma once

#include "stoker/augment/operation.h"

namespace stoker {

// The image moves trunc(share * width) pixels to the right; black fills. -1 <= share <= 1.
[[nodiscard]] Image translate_x(const ImageView& image, double share);
// The image moves trunc(share * height) pixels down.
[[nodiscard]] Image translate_y(const ImageView& image, double share);

[[nodiscard]] OperationSchema translate_x_schema();
[[nodiscard]] OperationSchema translate_y_schema();

}  // namespace stoker

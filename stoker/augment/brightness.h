// Brightness, as Pillow's ImageEnhance.Brightness: the image blended with black.
#pragma once

#include "stoker/augment/operation.h"

namespace stoker {

// out = factor * in, fraction dropped, at most 255: 0 is black, 1 the image. 0 <= factor <= 100.
[[nodiscard]] Image brightness(const ImageView& image, double factor);
// The same over an image without gaps.
void brightness_in_place(const MutableImageView& image, double factor);

[[nodiscard]] OperationSchema brightness_schema();

}  // namespace stoker

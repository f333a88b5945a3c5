// Saturation, as Pillow's ImageEnhance.Color: the image blended with its grey version.
#pragma once

#include "stoker/augment/operation.h"

namespace stoker {

// out = l + factor * (in - l), fraction dropped, kept legal, where l is each pixel's luma: 0 is
// grey, 1 the image. Grey images stay as they are. 0 <= factor <= 100.
[[nodiscard]] Image saturation(const ImageView& image, double factor);
// The same over an image without gaps.
void saturation_in_place(const MutableImageView& image, double factor);

[[nodiscard]] OperationSchema saturation_schema();

}  // namespace stoker

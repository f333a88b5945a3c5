// Contrast, as Pillow's ImageEnhance.Contrast: the image blended with its mean grey.
#pragma once

#include "stoker/augment/operation.h"

namespace stoker {

// out = m + factor * (in - m), fraction dropped, kept legal, where m is the mean luma, rounded:
// 0 is grey, 1 the image. 0 <= factor <= 100.
[[nodiscard]] Image contrast(const ImageView& image, double factor);
// The same over an image without gaps.
void contrast_in_place(const MutableImageView& image, double factor);

[[nodiscard]] OperationSchema contrast_schema();

}  // namespace stoker

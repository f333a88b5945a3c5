// Sharpness, as Pillow's ImageEnhance.Sharpness: the image blended with a smoothed version.
#pragma once

#include "stoker/augment/operation.h"

namespace stoker {

// out = s + factor * (in - s), fraction dropped, kept legal, where s = (sum of the 8 neighbours +
// 5 in) / 13, rounded; the outermost pixels stay. 0 is smooth, 1 the image, more is sharper.
// 0 <= factor <= 100.
[[nodiscard]] Image sharpness(const ImageView& image, double factor);
// The same over an image without gaps.
void sharpness_in_place(const MutableImageView& image, double factor, AugmentScratch& scratch);

[[nodiscard]] OperationSchema sharpness_schema();

}  // namespace stoker

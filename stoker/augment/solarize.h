// Solarizing, as Pillow's ImageOps.solarize.
#pragma once

#include "stoker/augment/operation.h"

namespace stoker {

// out = in below the threshold, 255 - in from it on. 0 <= threshold <= 256.
[[nodiscard]] Image solarize(const ImageView& image, double threshold);
// The same over an image without gaps.
void solarize_in_place(const MutableImageView& image, double threshold);

[[nodiscard]] OperationSchema solarize_schema();

}  // namespace stoker

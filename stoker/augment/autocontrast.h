// Stretching the contrast, as Pillow's ImageOps.autocontrast without a cutoff.
#pragma once

#include "stoker/augment/operation.h"

namespace stoker {

// In each channel the smallest value becomes 0 and the largest 255: with f = 255 / (largest -
// smallest), out = in * f - smallest * f in doubles, fraction dropped. A channel of one value stays
// as it is.
[[nodiscard]] Image autocontrast(const ImageView& image);
// The same over an image without gaps.
void autocontrast_in_place(const MutableImageView& image);

[[nodiscard]] OperationSchema autocontrast_schema();

}  // namespace stoker

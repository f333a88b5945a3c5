// Equalizing the histogram, as Pillow's ImageOps.equalize.
#pragma once

#include "stoker/augment/operation.h"

namespace stoker {

// In each channel, with step = (pixels - pixels of the largest value) / 255, fraction dropped:
// out = (step / 2 + number of pixels below in) / step, fractions dropped, at most 255. A channel
// with step 0 stays as it is.
[[nodiscard]] Image equalize(const ImageView& image);
// The same over an image without gaps.
void equalize_in_place(const MutableImageView& image);

[[nodiscard]] OperationSchema equalize_schema();

}  // namespace stoker

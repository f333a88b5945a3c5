// Colours to greys, as Pillow's conversion to mode L and back.
#pragma once

#include "stoker/augment/operation.h"

namespace stoker {

// All channels become the pixel's luma, (19595 r + 38470 g + 7471 b + 2^15) >> 16. Grey images stay
// as they are.
[[nodiscard]] Image greyscale(const ImageView& image);
// The same over an image without gaps.
void greyscale_in_place(const MutableImageView& image);

[[nodiscard]] OperationSchema greyscale_schema();

}  // namespace stoker

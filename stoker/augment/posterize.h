// Posterizing, as Pillow's ImageOps.posterize.
#pragma once

#include "stoker/augment/operation.h"

namespace stoker {

// Only the highest `bits` of each value stay; 0 makes all black. 0 <= bits <= 8.
[[nodiscard]] Image posterize(const ImageView& image, int bits);
// The same over an image without gaps.
void posterize_in_place(const MutableImageView& image, int bits);

[[nodiscard]] OperationSchema posterize_schema();

}  // namespace stoker

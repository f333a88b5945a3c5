// Inverting, as Pillow's ImageOps.invert.
#pragma once

#include "stoker/augment/operation.h"

namespace stoker {

// out = 255 - in
[[nodiscard]] Image invert(const ImageView& image);
// The same over an image without gaps.
void invert_in_place(const MutableImageView& image);

[[nodiscard]] OperationSchema invert_schema();

}  // namespace stoker

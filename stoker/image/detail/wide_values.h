// Values of 16 bits: made of those of 8, and mapped by a window. Functions without state.
#pragma once

#include "stoker/image/decode.h"
#include "stoker/image/image.h"

namespace stoker::detail {

// Times 257, so that 255 becomes 65535. The same shape but for the depth; no overlap.
void widen(const MutableImageView& out, const ImageView& in);

// In place, of 16 bits. With four channels the last stays as it is.
void apply_window(const MutableImageView& image, const ValueWindow& window);

}  // namespace stoker::detail

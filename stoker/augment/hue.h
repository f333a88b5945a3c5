// Hue: colours are turned around the colour circle, as torchvision's adjust_hue does with Pillow's
// HSV conversion, bit for bit.
#pragma once

#include "stoker/augment/operation.h"

namespace stoker {

// RGB to HSV in bytes, h + trunc(255 shift) modulo 256, and back. 0.5 and -0.5 are the opposite
// colours. Grey images stay as they are; coloured ones lose a little by the conversion even where
// shift is 0. -0.5 <= shift <= 0.5.
[[nodiscard]] Image hue(const ImageView& image, double shift);
// The same over an image without gaps.
void hue_in_place(const MutableImageView& image, double shift);

[[nodiscard]] OperationSchema hue_schema();

}  // namespace stoker

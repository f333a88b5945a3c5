// Shearing about the image's upper left corner, as AutoAugment, RandAugment and torchvision's
// policies have it.
#pragma once

#include "stoker/augment/operation.h"

namespace stoker {

// Row y shows the input from x + amount * (y + 0.5) on: what lies lower moves further to the left.
// Bilinear, black where the input had nothing.
[[nodiscard]] Image shear_x(const ImageView& image, double amount);
// Column x shows the input from y + amount * (x + 0.5) on: what lies further right moves higher up.
[[nodiscard]] Image shear_y(const ImageView& image, double amount);

// The maps of both. The corner of the image is half a pixel from its first pixel's centre.
[[nodiscard]] inline Affine shearing_x(double amount) noexcept {
  return {.xy = amount, .x0 = 0.5 * amount};
}
[[nodiscard]] inline Affine shearing_y(double amount) noexcept {
  return {.yx = amount, .y0 = 0.5 * amount};
}

[[nodiscard]] OperationSchema shear_x_schema();
[[nodiscard]] OperationSchema shear_y_schema();

}  // namespace stoker

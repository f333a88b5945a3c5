// Gaussian blur with the kernel and border of torchvision's GaussianBlur.
#pragma once

#include "stoker/augment/operation.h"

namespace stoker {

// Weights exp(-(x² + y²) / (2 sigma²)) over size * size pixels, divided by their sum; beyond the
// border the image is mirrored. Within one level of the exact result; see kernels/blur/blur.h.
// size odd, 1 to 51.
[[nodiscard]] Image gaussian_blur(const ImageView& image, int size, double sigma);
// The same over an image without gaps.
void gaussian_blur_in_place(const MutableImageView& image, int size, double sigma,
                            AugmentScratch& scratch);

[[nodiscard]] OperationSchema blur_schema();

}  // namespace stoker

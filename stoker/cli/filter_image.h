// Images for `stoker filter`: what kernels and filters make of a photograph. Functions without
// state, safe from any thread where they compute on the CPU. Cost: the kernel's, and memory for
// four bytes a pixel.
#pragma once

#include "stoker/cuda/gpu.h"
#include "stoker/image/image.h"
#include "stoker/kernels/plane.h"
#include "stoker/kernels/sobel/filter_text.h"

namespace stoker {

// Images of a grey image, of its size. Values are divided by the filter's weights of one sign, the
// larger sum of the two, and those of filters whose weights sum to 0 multiplied by 4: the same step
// of brightness comes out the same whatever the filter, so images of different filters can be
// compared; beyond white they are cut off. The sign is dropped. `gpu` computes where it is not
// null.
[[nodiscard]] Image correlation_image(const ImageView& grey, const Plane<const float>& kernel,
                                      cuda::Gpu* gpu = nullptr);
[[nodiscard]] Image sobel_image(const ImageView& grey, const Plane<const float>& filter,
                                cuda::Gpu* gpu = nullptr);

// The one of both that the filter is meant for.
[[nodiscard]] Image filter_image(const ImageView& grey, const FilterText& filter,
                                 cuda::Gpu* gpu = nullptr);

}  // namespace stoker

// Mixup and CutMix (augment/mix.h) of a batch where it lies.
#pragma once

#include <ATen/core/Tensor.h>

#include "stoker/augment/mix.h"

namespace stoker {

// (samples, channels, height, width) without gaps.
[[nodiscard]] BatchShape batch_shape(const at::Tensor& pixels);

// In place, without a copy on the CPU; on another device with the same roundings.
void mix_pixels(at::Tensor& pixels, const Mix& mix);

// As mix_pixels has it for any device.
void mix_pixels_by_tensors(at::Tensor& pixels, const Mix& mix);

}  // namespace stoker

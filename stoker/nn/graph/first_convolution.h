// Weights of the layer that sees the images, for another number of channels.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace stoker {

// Weights (outputs, inputs, rows, columns) for another number of inputs: for one the sum of all,
// since grey is the same in each (timm's in_chans=1); for more, repeated and scaled so that what
// they add up to stays.
[[nodiscard]] at::Tensor with_channels(const at::Tensor& weight, std::int64_t channels);

}  // namespace stoker

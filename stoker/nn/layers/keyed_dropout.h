// What training drops at random, as a function of the batch's key and each sample's place in it.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "stoker/nn/model.h"

namespace stoker {

// Of this shape, float32 on the CPU: 0 with this probability, else `kept`. The first dimension is a
// multiple of `samples`; each sample draws for its part of the values.
[[nodiscard]] at::Tensor drawn_factors(at::IntArrayRef shape, std::int64_t samples,
                                       double probability, float kept, const DrawKey& key);

// Dropout in training: each value becomes 0 with this probability; the others grow so that the mean
// stays.
[[nodiscard]] at::Tensor dropped(const at::Tensor& x, std::int64_t samples, double probability,
                                 const DrawKey& key);

}  // namespace stoker

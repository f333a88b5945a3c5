// Where weights start: from our own generator, so that a seed means the same numbers on every
// machine and for every version of LibTorch.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace stoker {

// Uniform in ± bound, float32; each layer of a network has its own number.
[[nodiscard]] at::Tensor uniform_weights(at::IntArrayRef shape, double bound, std::uint64_t seed,
                                         std::uint64_t layer);
// The same with mean 0 and this deviation.
[[nodiscard]] at::Tensor normal_weights(at::IntArrayRef shape, double deviation, std::uint64_t seed,
                                        std::uint64_t layer);

}  // namespace stoker

// A convolution or matrix product as oneDNN computes it: weights in the order that its kernel
// reads, put there once, with the addition and the activation that follow in the same pass.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "stoker/nn/graph/graph_executor.h"
#include "stoker/nn/inference/fuse_layers.h"

namespace stoker {

// Whether this LibTorch has such layers, and this CPU can compute them.
[[nodiscard]] bool has_packed_layers();

// `sizes`: of the layer's input, for which the order is chosen; others work too. `bias` may be
// undefined.
[[nodiscard]] GraphKernel packed_layer(const FusedLayer& fused, const at::Tensor& weight,
                                       const at::Tensor& bias,
                                       const std::vector<std::int64_t>& sizes);

}  // namespace stoker

// Tensors of bytes that stand for real numbers. LibTorch's own quantised tensors are to be removed
// from it, so these are plain ones, with the scale kept beside them.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "stoker/nn/int8/quantised_graph.h"

namespace stoker {

// Rounds half to even, as ONNX's QuantizeLinear does. Memory has the order of `x`.
[[nodiscard]] at::Tensor to_bytes(const at::Tensor& x, const QuantisedValue& form);
[[nodiscard]] at::Tensor from_bytes(const at::Tensor& bytes, const QuantisedValue& form);

struct PoolSizes {
  std::vector<std::int64_t> kernel, stride, padding;  // height, width
};
// LibTorch's max_pool2d has none for images of more than 255 bytes. (samples, channels, height,
// width) in channels-last order, without dilation; sizes are rounded down.
[[nodiscard]] at::Tensor max_pool_bytes(const at::Tensor& bytes, const PoolSizes& sizes);

}  // namespace stoker

// A batch norm and the rectifier after it as one step of training. LibTorch reads and writes the
// values of a layer 14 times for both, forward and backward; here it is 8 times, and memory is what
// they wait for.
#pragma once

#include <ATen/core/Tensor.h>

#include "stoker/nn/layers/shared_statistics.h"

namespace stoker {

// What values are kept between: at least `low` and at most `high`, which may be infinite.
struct Bounds {
  double low = 0, high = 0;
};

// Whether rectified_norm() can do it: float32 values on the CPU, channels last, at least one.
[[nodiscard]] bool can_rectify_norm(const at::Tensor& x);

// at::batch_norm() in training, then at::clamp(), with gradients for x, weight and bias. Moves the
// running statistics. Statistics and gradients do not depend on the number of threads: they are
// sums of parts that follow from the shape, in a fixed order.
[[nodiscard]] at::Tensor rectified_norm(const at::Tensor& x, const NormTensors& norm,
                                        const Bounds& bounds);

}  // namespace stoker

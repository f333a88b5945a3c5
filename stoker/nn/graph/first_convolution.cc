#include "stoker/nn/graph/first_convolution.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

namespace stoker {

at::Tensor with_channels(const at::Tensor& weight, std::int64_t channels) {
  const at::NoGradGuard no_grad;
  const std::int64_t had = weight.size(1);
  if (channels == 1) return weight.sum(1, /*keepdim=*/true);
  const std::int64_t times = (channels + had - 1) / had;
  return weight.repeat({1, times, 1, 1}).narrow(1, 0, channels).contiguous() *
         (static_cast<double>(had) / static_cast<double>(channels));
}

}  // namespace stoker

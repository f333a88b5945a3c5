#include "stoker/nn/finite_weights.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/nn/tensor_views.h"

namespace stoker {

void require_finite(std::span<const NamedTensor> tensors, const std::string& path) {
  const at::NoGradGuard no_grad;
  for (const NamedTensor& named : tensors) {
    if (!named.tensor.is_floating_point()) continue;
    const at::Tensor finite = at::isfinite(named.tensor);
    if (finite.all().item<bool>()) continue;
    throw Error({.what = "the weights are not all numbers",
                 .path = path,
                 .expected = "finite values",
                 .found = fmt::format("{} of {} values of {} are NaN or infinite",
                                      finite.logical_not().sum().item<std::int64_t>(),
                                      named.tensor.numel(), named.name),
                 .hint = "The training that made them diverged: take an earlier file, or pass "
                         "`allow_nonfinite`"});
  }
}

void require_finite(std::span<const TensorView> tensors, const std::string& path) {
  for (const TensorView& view : tensors) {
    const NamedTensor named{view.name, tensor_of(view)};
    require_finite(std::span(&named, 1), path);
  }
}

}  // namespace stoker

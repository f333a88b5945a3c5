#include "stoker/nn/layers/vector_math.h"

#include <array>
#include <mutex>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

namespace stoker {
namespace {

using Function = at::Tensor (*)(const at::Tensor&);

// All that LibTorch hands to MKL's vector functions, used by our networks or not: a new loss should
// not have to know of this.
constexpr std::array<Function, 21> kFunctions = {
    at::acos, at::asin, at::atan,  at::ceil, at::cos,   at::erf,   at::erfc,
    at::exp,  at::exp2, at::expm1, at::log,  at::log10, at::log1p, at::log2,
    at::sin,  at::sinh, at::sqrt,  at::tan,  at::tanh,  at::cosh,  at::erfinv};

void call_all() {
  const at::NoGradGuard no_grad;
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const at::Tensor half = at::full({1}, 0.5, type);
    for (const Function function : kFunctions) static_cast<void>(function(half));
  }
}

}  // namespace

void settle_vector_math() {
  static std::once_flag once;
  std::call_once(once, call_all);
}

}  // namespace stoker

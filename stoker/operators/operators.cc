// libstoker_ops.so: our kernels as operators of PyTorch, stoker::correlation, sobel, maximum and
// gram, on the CPU, and their shape functions. Only the stable part of LibTorch is used: no at:: or
// c10:: symbol, so one build serves other versions too. Loaded by C++ (dlopen, or linked) and by
// Python (torch.ops.load_library).
#include <array>
#include <optional>

#include <torch/csrc/stable/library.h>

#include "stoker/kernels/correlation/correlation.h"
#include "stoker/kernels/gram/gram.h"
#include "stoker/kernels/maximum/maximum.h"
#include "stoker/kernels/sobel/sobel.h"
#include "stoker/operators/detail/run_operators.h"

namespace stoker::detail {
namespace {

struct CpuBackend {
  explicit CpuBackend(const Tensor&) {}

  // All weights are in the host's memory here.
  template <class In, class T>
  void correlation(const Plane<T>& out, const Plane<const In>& image, const Plane<const T>& kernel,
                   bool /*on_host*/) const {
    correlate(out, image, kernel);
  }
  template <class In, class T>
  void sobel(const Plane<T>& out, const Plane<const In>& image, const Plane<const T>& filter,
             bool /*on_host*/) const {
    stoker::sobel(out, image, filter);
  }
  template <class T>
  void maximum(const Plane<T>& out, const Plane<const T>& a, const Plane<const T>& b) const {
    stoker::maximum(out, a, b);
  }
  template <class T>
  void gram(const Plane<T>& out, const Plane<const T>& x) const {
    stoker::gram(out, x);
  }
};

// Of the same shape without asking for it: torch.compile's sizes may be symbols, which are no
// numbers.
Tensor empty_like(const Tensor& tensor, ScalarType type) {
  using torch::stable::detail::from;
  std::array<StableIValue, 6> stack{from(tensor),       from(std::optional(type)),
                                    from(std::nullopt), from(std::nullopt),
                                    from(std::nullopt), from(std::nullopt)};
  STABLE_TORCH_ERROR_CODE_CHECK(
      torch_call_dispatcher("aten::empty_like", "", stack.data(), TORCH_ABI_VERSION));
  return torch::stable::contiguous(torch::stable::detail::to<Tensor>(stack[0]));
}

// Shapes and types of results, for tensors without values: what torch.compile and torch.export ask
// for.
Tensor correlation_shape(const Tensor& image, const Tensor& kernel) {
  return empty_like(image, check_filter_kinds("correlation", image, kernel, true));
}
Tensor sobel_shape(const Tensor& image, const Tensor& filter) {
  return empty_like(image, check_filter_kinds("sobel", image, filter, false));
}
Tensor maximum_shape(const Tensor& a, const Tensor& /*b*/) {
  check_maximum_type(a);
  return empty_like(a, a.scalar_type());
}
Tensor gram_shape(const Tensor& x) {
  check_gram_kind(x);
  return torch::stable::matmul(x, torch::stable::transpose(x, 0, 1));
}

}  // namespace

STABLE_TORCH_LIBRARY(stoker, library) {
  library.def("correlation(Tensor image, Tensor kernel) -> Tensor");
  library.def("sobel(Tensor image, Tensor filter) -> Tensor");
  library.def("maximum(Tensor a, Tensor b) -> Tensor");
  library.def("gram(Tensor x) -> Tensor");
}

STABLE_TORCH_LIBRARY_IMPL(stoker, CPU, library) {
  library.impl("correlation", TORCH_BOX(&run_correlation<CpuBackend>));
  library.impl("sobel", TORCH_BOX(&run_sobel<CpuBackend>));
  library.impl("maximum", TORCH_BOX(&run_maximum<CpuBackend>));
  library.impl("gram", TORCH_BOX(&run_gram<CpuBackend>));
}

STABLE_TORCH_LIBRARY_IMPL(stoker, Meta, library) {
  library.impl("correlation", TORCH_BOX(&correlation_shape));
  library.impl("sobel", TORCH_BOX(&sobel_shape));
  library.impl("maximum", TORCH_BOX(&maximum_shape));
  library.impl("gram", TORCH_BOX(&gram_shape));
}

}  // namespace stoker::detail

// The same operators on GPUs, part of libstoker_ops.so in builds with STOKER_CUDA. They run on
// LibTorch's current stream. Weights may be in the host's memory, too: small ones then travel into
// constant memory.
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/library.h>

#include "stoker/cuda/launch.h"
#include "stoker/operators/detail/run_operators.h"

namespace stoker::detail {
namespace {

struct CudaBackend {
  explicit CudaBackend(const Tensor& tensor)
      : guard(tensor.get_device_index()),
        stream(static_cast<cuda::Stream>(
            torch::stable::accelerator::getCurrentStream(tensor.get_device_index())
                .nativeHandle())) {}

  template <class In, class T>
  void correlation(const Plane<T>& out, const Plane<const In>& image, const Plane<const T>& kernel,
                   bool on_host) const {
    if (on_host) return cuda::launch_constant_correlation<In, T>(out, image, kernel, stream);
    cuda::launch_correlation<In, T>(out, image, kernel, cuda::Variant::kTiled, stream);
  }
  template <class In, class T>
  void sobel(const Plane<T>& out, const Plane<const In>& image, const Plane<const T>& filter,
             bool on_host) const {
    if (on_host) return cuda::launch_constant_sobel<In, T>(out, image, filter, stream);
    cuda::launch_sobel<In, T>(out, image, filter, stream);
  }
  template <class T>
  void maximum(const Plane<T>& out, const Plane<const T>& a, const Plane<const T>& b) const {
    cuda::launch_maximum<T>(out, a, b, cuda::Variant::kTiled, stream);
  }
  template <class T>
  void gram(const Plane<T>& out, const Plane<const T>& x) const {
    cuda::launch_gram<T>(out, x, cuda::Variant::kTiled, stream);
  }

  torch::stable::accelerator::DeviceGuard guard;
  cuda::Stream stream;
};

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(stoker, CUDA, library) {
  library.impl("correlation", TORCH_BOX(&run_correlation<CudaBackend>));
  library.impl("sobel", TORCH_BOX(&run_sobel<CudaBackend>));
  library.impl("maximum", TORCH_BOX(&run_maximum<CudaBackend>));
  library.impl("gram", TORCH_BOX(&run_gram<CudaBackend>));
}

}  // namespace stoker::detail

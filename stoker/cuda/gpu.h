// Kernels on a GPU for programs that must also start where there is none: what needs CUDA is in a
// library of its own, libstoker_gpu.so, which is loaded when there is a driver.
//
// Operands and results are in the host's memory; the calls copy them. find_gpu() is safe from any
// thread and does its work once; a Gpu is for one thread at a time.
//
// The variable STOKER_GPU_LIBRARY names another library with the same interface. The tests put the
// simulator there, so that all but the GPU itself is tested without one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/cuda/variant.h"
#include "stoker/kernels/plane.h"

namespace stoker::cuda {

// Medians, in milliseconds.
struct GpuTimes {
  double kernel = 0;       // by the GPU's clock, operands on the GPU
  double with_copies = 0;  // operands to the GPU, kernel, result back
};

// Contracts: stoker/kernels/<name>/<name>.h. Each call runs `rounds` times, at least once. Throw
// Error for shapes that the contract excludes, and where CUDA fails.
class Gpu {
 public:
  Gpu() = default;
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  virtual ~Gpu() = default;

  [[nodiscard]] virtual std::string name() const = 0;  // "Tesla T4, sm_75, 40 multiprocessors"
  virtual GpuTimes maximum(const Plane<std::int32_t>& out, const Plane<const std::int32_t>& a,
                           const Plane<const std::int32_t>& b, Variant variant, int rounds) = 0;
  virtual GpuTimes gram(const Plane<float>& out, const Plane<const float>& x, Variant variant,
                        int rounds) = 0;
  virtual GpuTimes correlation(const Plane<float>& out, const Plane<const float>& image,
                               const Plane<const float>& kernel, Variant variant, int rounds) = 0;
  virtual GpuTimes correlation(const Plane<float>& out, const Plane<const std::uint8_t>& image,
                               const Plane<const float>& kernel, Variant variant, int rounds) = 0;
  virtual GpuTimes sobel(const Plane<float>& out, const Plane<const float>& image,
                         const Plane<const float>& filter, Variant variant, int rounds) = 0;
  virtual GpuTimes sobel(const Plane<float>& out, const Plane<const std::uint8_t>& image,
                         const Plane<const float>& filter, Variant variant, int rounds) = 0;
};

// What a library exports under the name kOpenGpuName: the GPU, or null and why not. The version
// keeps a library of another build away.
inline constexpr int kGpuInterfaceVersion = 1;
inline constexpr const char* kOpenGpuName = "stoker_open_gpu";
using OpenGpu = Gpu* (*)(int version, std::string* reason);

struct FoundGpu {
  Gpu* gpu = nullptr;  // lives as long as the process; null where there is none
  std::string reason;  // why there is none, or what there is
};
[[nodiscard]] const FoundGpu& find_gpu();

// For a flag --device: "cpu" and "cuda" as asked, "auto" the GPU where there is one. Throws Error
// where it is something else, or "cuda" and there is none.
[[nodiscard]] FoundGpu choose_gpu(std::string_view wanted);
[[nodiscard]] FoundGpu choose_gpu(std::string_view wanted, const FoundGpu& found);

// Another library than the one that find_gpu() has; for tests.
[[nodiscard]] FoundGpu open_gpu_library(const std::string& path);

}  // namespace stoker::cuda

// For tests: the interface of gpu.h with the simulator. It runs the same kernels, chosen by the
// same dispatch.h, and catches what the simulator catches.
#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "stoker/cuda/detail/timed_rounds.h"
#include "stoker/cuda/gpu.h"
#include "stoker/cuda/test_launch.h"

namespace stoker::cuda {
namespace {

template <class T>
std::vector<std::remove_const_t<T>> values_of(const Plane<T>& plane) {
  std::vector<std::remove_const_t<T>> values;
  for (int y = 0; y < plane.rows; ++y) {
    values.insert(values.end(), plane.row(y), plane.row(y) + plane.columns);
  }
  return values;
}

template <class T>
class Result {
 public:
  explicit Result(const Plane<T>& out) : out_(out), buffer_("out", std::vector<T>(out.size())) {}
  Output<T> output() { return buffer_.output(); }
  void download() const {
    const std::vector<T> values = buffer_.values();
    for (int y = 0; y < out_.rows; ++y) {
      std::copy_n(values.data() + std::size_t{1} * y * out_.columns, out_.columns, out_.row(y));
    }
  }

 private:
  Plane<T> out_;
  Buffer<T> buffer_;
};

template <class Launch>
GpuTimes timed(int rounds, const Launch& launch) {
  const double milliseconds = detail::host_milliseconds(rounds, launch);
  return {.kernel = milliseconds, .with_copies = milliseconds};
}

template <class In>
PlaneShape shape_of(const Plane<const In>& image) {
  return {image.rows, image.columns, image.columns, image.columns};
}

class SimulatedGpu : public Gpu {
 public:
  [[nodiscard]] std::string name() const override { return "simulated GPU"; }

  GpuTimes maximum(const Plane<std::int32_t>& out, const Plane<const std::int32_t>& a,
                   const Plane<const std::int32_t>& b, Variant variant, int rounds) override {
    const Buffer<std::int32_t> first("a", values_of(a)), second("b", values_of(b));
    Result<std::int32_t> result(out);
    return timed(rounds, [&] {
      run_maximum<std::int32_t>(SimulatedLaunch{}, result.output(), first.input(), second.input(),
                                static_cast<std::int64_t>(out.size()), variant);
      result.download();
    });
  }

  GpuTimes gram(const Plane<float>& out, const Plane<const float>& x, Variant variant,
                int rounds) override {
    const Buffer<float> values("x", values_of(x));
    Result<float> result(out);
    return timed(rounds, [&] {
      run_gram<float>(SimulatedLaunch{}, result.output(), values.input(),
                      GramShape{x.rows, x.columns, x.columns, x.rows}, variant);
      result.download();
    });
  }

  GpuTimes correlation(const Plane<float>& out, const Plane<const float>& image,
                       const Plane<const float>& kernel, Variant variant, int rounds) override {
    return correlation_of(out, image, kernel, variant, rounds);
  }
  GpuTimes correlation(const Plane<float>& out, const Plane<const std::uint8_t>& image,
                       const Plane<const float>& kernel, Variant variant, int rounds) override {
    return correlation_of(out, image, kernel, variant, rounds);
  }
  GpuTimes sobel(const Plane<float>& out, const Plane<const float>& image,
                 const Plane<const float>& filter, Variant variant, int rounds) override {
    return sobel_of(out, image, filter, variant, rounds);
  }
  GpuTimes sobel(const Plane<float>& out, const Plane<const std::uint8_t>& image,
                 const Plane<const float>& filter, Variant variant, int rounds) override {
    return sobel_of(out, image, filter, variant, rounds);
  }

 private:
  template <class In>
  GpuTimes correlation_of(const Plane<float>& out, const Plane<const In>& image,
                          const Plane<const float>& kernel, Variant variant, int rounds) {
    const Buffer<In> source("image", values_of(image));
    const std::vector<float> taps = values_of(kernel);
    const Buffer<float> weights("weights", taps);
    const KernelShape shape{kernel.rows, kernel.columns};
    Result<float> result(out);
    return timed(rounds, [&] {
      if (variant == Variant::kTiled && reach_of(shape) <= kMostCorrelationReach) {
        run_constant_correlation<In, float>(SimulatedLaunch{}, result.output(), source.input(),
                                            shape_of(image), taps.data(), shape);
      } else {
        run_correlation<In, float>(SimulatedLaunch{}, result.output(), source.input(),
                                   shape_of(image), weights.input(), shape, variant);
      }
      result.download();
    });
  }

  template <class In>
  GpuTimes sobel_of(const Plane<float>& out, const Plane<const In>& image,
                    const Plane<const float>& filter, Variant variant, int rounds) {
    const Buffer<In> source("image", values_of(image));
    const std::vector<float> taps = values_of(filter);
    const Buffer<float> weights("weights", taps);
    const KernelShape shape{filter.rows, filter.columns};
    Result<float> result(out);
    return timed(rounds, [&] {
      if (variant == Variant::kTiled && reach_of(shape) <= kMostSobelReach) {
        run_constant_sobel<In, float>(SimulatedLaunch{}, result.output(), source.input(),
                                      shape_of(image), taps.data(), shape);
      } else {
        run_sobel<In, float>(SimulatedLaunch{}, result.output(), source.input(), shape_of(image),
                             weights.input(), shape);
      }
      result.download();
    });
  }
};

}  // namespace
}  // namespace stoker::cuda

extern "C" __attribute__((visibility("default"))) stoker::cuda::Gpu* stoker_open_gpu(
    int version, std::string* reason) {
  if (version != stoker::cuda::kGpuInterfaceVersion) {
    *reason = "the simulated GPU is of another build";
    return nullptr;
  }
  static stoker::cuda::SimulatedGpu gpu;
  *reason = gpu.name();
  return &gpu;
}

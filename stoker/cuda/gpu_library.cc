// libstoker_gpu.so: the interface of gpu.h with CUDA. Never linked: gpu.cc loads it.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/cuda/detail/timed_rounds.h"
#include "stoker/cuda/gpu.h"
#include "stoker/cuda/launch.h"

namespace stoker::cuda {
namespace {

// Sides up to which the tiled kernels take weights from the host's memory; see launch.h.
constexpr int kMostConstantCorrelation = 31;
constexpr int kMostConstantSobel = 7;

void check(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return;
  throw Error({.what = fmt::format("CUDA failed: {}: {}", doing, cudaGetErrorString(error)),
               .hint = "Use `device` cpu, or free memory of the GPU."});
}

// Memory of the GPU for a plane, without gaps.
template <class T>
class Memory {
 public:
  Memory(int rows, int columns) : rows_(rows), columns_(columns) {
    check(cudaMalloc(reinterpret_cast<void**>(&data_), std::max<std::size_t>(bytes(), 1)),
          "allocating");
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { cudaFree(data_); }

  template <class Value>
  void upload(const Plane<Value>& from) {
    copy(data_, row_bytes(), from.data, from.stride * sizeof(T), cudaMemcpyHostToDevice);
  }
  void download(const Plane<T>& to) const {
    copy(to.data, to.stride * sizeof(T), data_, row_bytes(), cudaMemcpyDeviceToHost);
  }
  [[nodiscard]] Plane<T> plane() const { return {data_, rows_, columns_}; }
  [[nodiscard]] Plane<const T> input() const { return {data_, rows_, columns_}; }

 private:
  [[nodiscard]] std::size_t row_bytes() const { return columns_ * sizeof(T); }
  [[nodiscard]] std::size_t bytes() const { return rows_ * row_bytes(); }
  void copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
            cudaMemcpyKind kind) const {
    if (bytes() == 0) return;
    check(cudaMemcpy2D(to, to_pitch, from, from_pitch, row_bytes(), static_cast<std::size_t>(rows_),
                       kind),
          "copying");
  }

  int rows_;
  int columns_;
  T* data_ = nullptr;
};

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "timing"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }
  void record() { check(cudaEventRecord(event_), "timing"); }
  [[nodiscard]] double milliseconds_since(const Event& begin) const {
    check(cudaEventSynchronize(event_), "running a kernel");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin.event_, event_), "timing");
    return milliseconds;
  }

 private:
  cudaEvent_t event_{};
};

using Step = std::function<void()>;

// The result is that of the last whole round.
GpuTimes timed(int rounds, const Step& upload, const Step& launch, const Step& download) {
  upload();
  launch();  // the first launch loads the kernel
  Event begin, end;
  std::vector<double> times;
  for (int i = 0; i < std::max(rounds, 1); ++i) {
    begin.record();
    launch();
    end.record();
    times.push_back(end.milliseconds_since(begin));
  }
  const double whole = detail::host_milliseconds(rounds, [&] {
    upload();
    launch();
    download();  // waits for the kernel
  });
  return {.kernel = detail::median(std::move(times)), .with_copies = whole};
}

bool fits(const Plane<const float>& kernel, int side) {
  return kernel.rows <= side && kernel.columns <= side && kernel.contiguous();
}

class CudaGpu : public Gpu {
 public:
  explicit CudaGpu(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] std::string name() const override { return name_; }

  GpuTimes maximum(const Plane<std::int32_t>& out, const Plane<const std::int32_t>& a,
                   const Plane<const std::int32_t>& b, Variant variant, int rounds) override {
    Memory<std::int32_t> first(a.rows, a.columns), second(b.rows, b.columns),
        result(out.rows, out.columns);
    return timed(
        rounds,
        [&] {
          first.upload(a);
          second.upload(b);
        },
        [&] {
          launch_maximum<std::int32_t>(result.plane(), first.input(), second.input(), variant,
                                       nullptr);
        },
        [&] { result.download(out); });
  }

  GpuTimes gram(const Plane<float>& out, const Plane<const float>& x, Variant variant,
                int rounds) override {
    Memory<float> values(x.rows, x.columns), result(out.rows, out.columns);
    return timed(
        rounds, [&] { values.upload(x); },
        [&] { launch_gram<float>(result.plane(), values.input(), variant, nullptr); },
        [&] { result.download(out); });
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
    Memory<In> source(image.rows, image.columns);
    Memory<float> weights(kernel.rows, kernel.columns), result(out.rows, out.columns);
    weights.upload(kernel);
    const bool constant = variant == Variant::kTiled && fits(kernel, kMostConstantCorrelation);
    return timed(
        rounds, [&] { source.upload(image); },
        [&] {
          if (constant) {
            return launch_constant_correlation<In, float>(result.plane(), source.input(), kernel,
                                                          nullptr);
          }
          launch_correlation<In, float>(result.plane(), source.input(), weights.input(), variant,
                                        nullptr);
        },
        [&] { result.download(out); });
  }

  template <class In>
  GpuTimes sobel_of(const Plane<float>& out, const Plane<const In>& image,
                    const Plane<const float>& filter, Variant variant, int rounds) {
    Memory<In> source(image.rows, image.columns);
    Memory<float> weights(filter.rows, filter.columns), result(out.rows, out.columns);
    weights.upload(filter);
    const bool constant = variant == Variant::kTiled && fits(filter, kMostConstantSobel);
    return timed(
        rounds, [&] { source.upload(image); },
        [&] {
          if (constant) {
            return launch_constant_sobel<In, float>(result.plane(), source.input(), filter,
                                                    nullptr);
          }
          launch_sobel<In, float>(result.plane(), source.input(), weights.input(), nullptr);
        },
        [&] { result.download(out); });
  }

  std::string name_;
};

Gpu* open_first_device(std::string& reason) {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess || devices == 0) {
    reason = error == cudaSuccess ? "the NVIDIA driver knows no device"
                                  : fmt::format("no CUDA device: {}", cudaGetErrorString(error));
    return nullptr;
  }
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "asking for the device");
  reason = fmt::format("{}, sm_{}{}, {} multiprocessors", properties.name, properties.major,
                       properties.minor, properties.multiProcessorCount);
  static CudaGpu gpu(reason);
  return &gpu;
}

}  // namespace
}  // namespace stoker::cuda

extern "C" __attribute__((visibility("default"))) stoker::cuda::Gpu* stoker_open_gpu(
    int version, std::string* reason) {
  if (version != stoker::cuda::kGpuInterfaceVersion) {
    *reason = "libstoker_gpu.so is of another build";
    return nullptr;
  }
  try {
    return stoker::cuda::open_first_device(*reason);
  } catch (const std::exception& error) {
    *reason = error.what();
    return nullptr;
  }
}

// Every kernel on the GPU against its reference, then time tables. In a library of its own
// (kernel_check.h), which is loaded only where there is a GPU.
#include "stoker/cuda/kernel_check.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/rng.h"
#include "stoker/cuda/launch.h"
#include "stoker/kernels/correlation/correlation.h"
#include "stoker/kernels/gram/gram.h"
#include "stoker/kernels/maximum/maximum.h"
#include "stoker/kernels/sobel/sobel.h"

namespace stoker::cuda {
namespace {

void check(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return;
  throw Error({.what = fmt::format("CUDA failed: {}: {}", doing, cudaGetErrorString(error))});
}

// A matrix on both sides.
template <class T>
class Matrix {
 public:
  Matrix(int rows, int columns, std::uint64_t seed)
      : rows_(rows), columns_(columns), host_(size()) {
    Rng rng({.seed = seed}, 0);
    // Small whole numbers: all sums here are exact, so results must be equal.
    for (auto& value : host_) value = static_cast<T>(rng.uniform_int(16));
    check(cudaMalloc(reinterpret_cast<void**>(&device_),
                     std::max<std::size_t>(size(), 1) * sizeof(T)),
          "allocating");
    upload();
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() { cudaFree(device_); }

  void upload() {
    check(cudaMemcpy(device_, host_.data(), size() * sizeof(T), cudaMemcpyHostToDevice), "copying");
  }
  [[nodiscard]] std::vector<T> download() const {
    std::vector<T> values(size());
    check(cudaMemcpy(values.data(), device_, size() * sizeof(T), cudaMemcpyDeviceToHost),
          "copying");
    return values;
  }
  [[nodiscard]] Plane<T> host() { return {host_.data(), rows_, columns_}; }
  [[nodiscard]] Plane<T> device() const { return {device_, rows_, columns_}; }
  [[nodiscard]] const std::vector<T>& values() const { return host_; }

 private:
  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(rows_) * static_cast<std::size_t>(columns_);
  }

  int rows_;
  int columns_;
  std::vector<T> host_;
  T* device_ = nullptr;
};

// Fills out with 77 on the GPU, runs, and compares with what `reference` leaves in out on the host.
template <class T>
void compare(KernelCheck& tally, const std::string& what, Matrix<T>& out,
             const std::function<void()>& reference, const std::function<void()>& launch) {
  reference();
  const auto size = out.values().size() * sizeof(T);
  check(cudaMemset(out.device().data, 77, size), "filling");
  launch();
  check(cudaDeviceSynchronize(), what.c_str());
  ++tally.compared;
  if (out.download() != out.values()) tally.different.push_back(what);
}

template <class In, class T>
void check_correlation(KernelCheck& tally, const char* types, int rows, int columns, int down,
                       int across) {
  Matrix<In> image(rows, columns, 1);
  Matrix<T> kernel(down, across, 2), out(rows, columns, 3);
  const auto name =
      fmt::format("correlation {} {}×{} kernel {}×{}", types, rows, columns, down, across);
  const Plane<const In> from = image.device();
  const auto reference = [&] {
    correlate_reference(out.host(), Plane<const In>(image.host()), Plane<const T>(kernel.host()));
  };
  for (const Variant variant : {Variant::kPlain, Variant::kTiled}) {
    compare<T>(tally, name, out, reference, [&] {
      launch_correlation<In, T>(out.device(), from, Plane<const T>(kernel.device()), variant,
                                nullptr);
    });
  }
  if (down > 31 || across > 31) return;
  compare<T>(tally, name + " constant", out, reference, [&] {
    launch_constant_correlation<In, T>(out.device(), from, Plane<const T>(kernel.host()), nullptr);
  });
}

template <class In, class T>
void check_sobel(KernelCheck& tally, const char* types, int rows, int columns, int down,
                 int across) {
  Matrix<In> image(rows, columns, 1);
  Matrix<T> filter(down, across, 2), out(rows, columns, 3);
  const auto name = fmt::format("Sobel {} {}×{} filter {}×{}", types, rows, columns, down, across);
  const auto reference = [&] {
    sobel_reference(out.host(), Plane<const In>(image.host()), Plane<const T>(filter.host()));
  };
  compare<T>(tally, name, out, reference, [&] {
    launch_sobel<In, T>(out.device(), Plane<const In>(image.device()),
                        Plane<const T>(filter.device()), nullptr);
  });
  compare<T>(tally, name + " constant", out, reference, [&] {
    launch_constant_sobel<In, T>(out.device(), Plane<const In>(image.device()),
                                 Plane<const T>(filter.host()), nullptr);
  });
}

template <class T>
void check_maximum(KernelCheck& tally, const char* type, int rows, int columns) {
  Matrix<T> a(rows, columns, 1), b(rows, columns, 2), out(rows, columns, 3);
  for (const Variant variant : {Variant::kPlain, Variant::kTiled}) {
    compare<T>(
        tally, fmt::format("maximum {} {}×{}", type, rows, columns), out,
        [&] { maximum_reference(out.host(), Plane<const T>(a.host()), Plane<const T>(b.host())); },
        [&] {
          launch_maximum<T>(out.device(), Plane<const T>(a.device()), Plane<const T>(b.device()),
                            variant, nullptr);
        });
  }
}

template <class T>
void check_gram(KernelCheck& tally, const char* type, int rows, int columns) {
  Matrix<T> x(rows, columns, 1), out(rows, rows, 2);
  for (const Variant variant : {Variant::kPlain, Variant::kTiled}) {
    compare<T>(
        tally, fmt::format("X·Xᵀ {} {}×{}", type, rows, columns), out,
        [&] { gram_reference(out.host(), Plane<const T>(x.host())); },
        [&] { launch_gram<T>(out.device(), Plane<const T>(x.device()), variant, nullptr); });
  }
}

void check_all(KernelCheck& tally) {
  const std::pair<int, int> shapes[] = {{1, 1},    {1, 1000},  {1000, 1}, {5, 4},
                                        {33, 129}, {240, 321}, {512, 512}};
  const std::pair<int, int> kernels[] = {{1, 1}, {3, 3},   {5, 5},   {7, 7}, {5, 3},
                                         {1, 9}, {15, 15}, {31, 31}, {35, 3}};
  for (const auto& [rows, columns] : shapes) {
    for (const auto& [down, across] : kernels) {
      check_correlation<float, float>(tally, "f32", rows, columns, down, across);
      check_correlation<double, double>(tally, "f64", rows, columns, down, across);
      check_correlation<std::int32_t, std::int32_t>(tally, "i32", rows, columns, down, across);
      check_correlation<std::uint8_t, float>(tally, "u8 f32", rows, columns, down, across);
      check_correlation<std::uint8_t, std::int32_t>(tally, "u8 i32", rows, columns, down, across);
      if (down > 7 || across > 7) continue;
      check_sobel<float, float>(tally, "f32", rows, columns, down, across);
      check_sobel<std::uint8_t, float>(tally, "u8", rows, columns, down, across);
      check_sobel<double, double>(tally, "f64", rows, columns, down, across);
    }
    check_maximum<std::uint8_t>(tally, "u8", rows, columns);
    check_maximum<std::int32_t>(tally, "i32", rows, columns);
    check_maximum<std::int64_t>(tally, "i64", rows, columns);
    check_gram<float>(tally, "f32", rows, std::min(columns, 300));
    check_gram<double>(tally, "f64", rows, std::min(columns, 300));
  }
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// Milliseconds of a call on the host.
double host_ms(const std::function<void()>& run, int rounds = 7) {
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
            .count());
  }
  return median(times);
}

// Milliseconds of a launch on the GPU, by its own clock, data there already; the first rounds warm
// up.
double device_ms(const std::function<void()>& launch, int rounds = 50) {
  cudaEvent_t begin{}, end{};
  check(cudaEventCreate(&begin), "timing");
  check(cudaEventCreate(&end), "timing");
  std::vector<double> times;
  for (int i = -3; i < rounds; ++i) {
    check(cudaEventRecord(begin), "timing");
    launch();
    check(cudaEventRecord(end), "timing");
    check(cudaEventSynchronize(end), "timing");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end), "timing");
    if (i >= 0) times.push_back(ms);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return median(times);
}

// Markdown that grows.
class Tables {
 public:
  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }
  void row(const std::string& what, double ms, double base) {
    add("| {} | {:.4f} | {:.1f} |\n", what, ms, base / ms);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void maximum_table(Tables& tables) {
  using T = std::int32_t;
  Matrix<T> a(1000, 1000, 1), b(1000, 1000, 2), out(1000, 1000, 3);
  const Plane<const T> host_a = a.host(), host_b = b.host(), device_a = a.device(),
                       device_b = b.device();
  tables.add(
      "\nR14: maximum of two 1000×1000 matrices, i32\n\n| way | ms | times the plain loop "
      "|\n|---|---|---|\n");
  const double base = host_ms([&] { maximum_reference(out.host(), host_a, host_b); });
  tables.row("CPU, plain loop, compiled", base, base);
  for (const int threads : {1, 2, 4, 8}) {
    tables.row(fmt::format("CPU, SIMD, {} threads", threads),
               host_ms([&] { maximum(out.host(), host_a, host_b, {.threads = threads}); }, 31),
               base);
  }
  tables.row("GPU, 1000 blocks of 1000 threads", device_ms([&] {
               launch_maximum<T>(out.device(), device_a, device_b, Variant::kPlain, nullptr);
             }),
             base);
  tables.row("GPU, 16 bytes a thread", device_ms([&] {
               launch_maximum<T>(out.device(), device_a, device_b, Variant::kTiled, nullptr);
             }),
             base);
  tables.row("GPU, with both copies there and one back", host_ms([&] {
               a.upload();
               b.upload();
               launch_maximum<T>(out.device(), device_a, device_b, Variant::kTiled, nullptr);
               (void)out.download();
             }),
             base);
}

void gram_table(Tables& tables) {
  Matrix<float> x(1000, 1000, 1), out(1000, 1000, 2);
  const Plane<const float> host = x.host(), device = x.device();
  tables.add(
      "\nR15: X·Xᵀ, 1000×1000, f32\n\n| way | ms | times the three loops |\n|---|---|---|\n");
  const double base = host_ms([&] { gram_reference(out.host(), host); }, 1);
  tables.row("CPU, three loops, compiled", base, base);
  tables.row("CPU, blocked, all threads", host_ms([&] { gram(out.host(), host); }), base);
  tables.row(
      "GPU, one block of 1024 threads",
      device_ms([&] { launch_gram<float>(out.device(), device, Variant::kPlain, nullptr); }, 3),
      base);
  tables.row("GPU, tiled, half of the work",
             device_ms([&] { launch_gram<float>(out.device(), device, Variant::kTiled, nullptr); }),
             base);
}

void correlation_table(Tables& tables) {
  tables.add(
      "\nR18: correlation, f32, ms (GPU: data there already)\n\n"
      "| size | kernel | CPU plain | CPU best | GPU one thread a pixel | GPU tiled | GPU Sobel | "
      "CPU best / GPU tiled |\n"
      "|---|---|---|---|---|---|---|---|\n");
  for (const int size : {512, 4096}) {
    Matrix<float> image(size, size, 1), out(size, size, 2);
    const Plane<const float> host = image.host(), device = image.device();
    for (const int side : {3, 5, 7, 15, 31}) {
      Matrix<float> kernel(side, side, 3);
      const Plane<const float> taps = kernel.host(), device_taps = kernel.device();
      const double plain = size * side > 512 * 15
                               ? 0
                               : host_ms([&] { correlate_reference(out.host(), host, taps); }, 1);
      const double best = host_ms([&] { correlate(out.host(), host, taps); });
      const double pixel = device_ms(
          [&] {
            launch_correlation<float, float>(out.device(), device, device_taps, Variant::kPlain,
                                             nullptr);
          },
          20);
      const double tiled = device_ms(
          [&] { launch_constant_correlation<float, float>(out.device(), device, taps, nullptr); },
          20);
      const auto sobel = side > 7
                             ? std::string("–")
                             : fmt::format("{:.4f}", device_ms(
                                                         [&] {
                                                           launch_constant_sobel<float, float>(
                                                               out.device(), device, taps, nullptr);
                                                         },
                                                         20));
      tables.add("| {0}² | {1}×{1} | {2} | {3:.3f} | {4:.4f} | {5:.4f} | {6} | {7:.1f} |\n", size,
                 side, plain > 0 ? fmt::format("{:.2f}", plain) : "–", best, pixel, tiled, sobel,
                 best / tiled);
    }
  }
}

void check_on(int index, KernelCheck& result) {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess || devices == 0) {
    result.problem =
        fmt::format("no CUDA device: {}",
                    error == cudaSuccess ? "the driver sees none" : cudaGetErrorString(error));
    return;
  }
  check(cudaSetDevice(index), "choosing the device");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "asking for the device");
  check_all(result);
  if (!result.different.empty()) return;
  Tables tables;
  tables.add("{}, sm_{}{}, {} multiprocessors\n", properties.name, properties.major,
             properties.minor, properties.multiProcessorCount);
  maximum_table(tables);
  gram_table(tables);
  correlation_table(tables);
  result.tables = tables.text();
}

}  // namespace

extern "C" void stoker_check_cuda_kernels(int index, KernelCheck& result) {
  try {
    check_on(index, result);
  } catch (const std::exception& error) {
    result.problem = error.what();
  }
}

static_assert(std::is_same_v<decltype(stoker_check_cuda_kernels), CheckCudaKernels>);

}  // namespace stoker::cuda

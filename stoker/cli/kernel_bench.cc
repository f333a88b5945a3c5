#include "stoker/cli/kernel_bench.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <type_traits>
#include <utility>

#include "stoker/core/rng.h"
#include "stoker/kernels/correlation/correlation.h"
#include "stoker/kernels/gram/gram.h"
#include "stoker/kernels/maximum/maximum.h"
#include "stoker/kernels/simd.h"
#include "stoker/kernels/sobel/sobel.h"

namespace stoker {
namespace {

using cuda::GpuTimes;
using cuda::Variant;
using Call = std::function<void()>;

// A call that takes longer is not repeated.
constexpr double kSlowMs = 500;
// Products of a trivial loop that takes seconds, not minutes.
constexpr double kMostTrivialProducts = 1e9;
constexpr int kGpuRounds = 20;

// The median; at least three calls after one that does not count, but where they are slow.
double time_of(const Call& call, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto one = [&] {
    const auto start = Clock::now();
    call();
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  };
  const double first = one();
  if (first > kSlowMs) return first;
  std::vector<double> times;
  const auto begin = Clock::now();
  do {
    times.push_back(one());
  } while (times.size() < 3 || Clock::now() - begin < std::chrono::duration<double>(seconds));
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

template <class T>
std::vector<T> random_values(std::size_t count, double low, double high) {
  Rng rng({.seed = 1}, 0);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(rng.uniform(low, high));
  return values;
}

class KernelBench {
 public:
  explicit KernelBench(const KernelBenchOptions& options) : options_(options) {}

  std::vector<KernelFigure> run() {
    for (const int side : options_.sizes) {
      for (const int size : options_.kernels) {
        correlation<float>("correlation f32", side, size);
        correlation<std::uint8_t>("correlation u8", side, size);
      }
      for (const NamedFilter& filter : document_filters()) {
        if (filter.correlation_only) continue;
        sobel_of<float>("sobel f32", side, filter);
        sobel_of<std::uint8_t>("sobel u8", side, filter);
      }
    }
    maximum_figures();
    gram_figures();
    return std::move(figures_);
  }

 private:
  // On the CPU: `fast` for each number of threads returns the method's name.
  void cpu_figures(const KernelFigure& what, const Call& trivial,
                   const std::function<std::string(int threads)>& fast) {
    if (!options_.cpu) return;
    if (trivial) add_cpu(what, 1, "reference", time_of(trivial, options_.seconds));
    for (const int threads : options_.threads) {
      std::string method;
      const double ms = time_of([&] { method = fast(threads); }, options_.seconds);
      add_cpu(what, threads, method, ms);
    }
  }

  void add_cpu(KernelFigure figure, int threads, std::string method, double ms) {
    figure.device = "cpu";
    figure.threads = threads;
    figure.method = std::move(method);
    figure.ms = ms;
    figures_.push_back(std::move(figure));
  }

  void gpu_figures(KernelFigure figure, const char* plain_name, const char* tiled_name,
                   const std::function<GpuTimes(Variant)>& call) {
    if (options_.gpu == nullptr) return;
    figure.device = "cuda";
    for (const auto& [variant, name] :
         {std::pair{Variant::kPlain, plain_name}, {Variant::kTiled, tiled_name}}) {
      const GpuTimes times = call(variant);
      figure.method = name;
      figure.ms = times.kernel;
      figure.ms_with_copies = times.with_copies;
      figures_.push_back(figure);
    }
  }

  [[nodiscard]] int gpu_rounds() const { return options_.seconds > 0 ? kGpuRounds : 1; }

  template <class In>
  void correlation(const char* name, int side, int size) {
    // The GPU's bytes become f32; whole sums on the CPU.
    using Out = std::conditional_t<std::is_same_v<In, float>, float, std::int32_t>;
    const auto values = random_values<In>(std::size_t{1} * side * side, 0, 255);
    const auto taps = random_values<Out>(std::size_t{1} * size * size, -20, 20);
    std::vector<Out> results(values.size());
    const Plane<Out> out(results.data(), side, side);
    const Plane<const In> image(values.data(), side, side);
    const Plane<const Out> kernel(taps.data(), size, size);
    const KernelFigure what{.kernel = name, .image = side, .rows = size, .columns = size};
    const double products = static_cast<double>(values.size() * taps.size());
    Call trivial;
    if (std::is_same_v<In, float> && products < kMostTrivialProducts) {
      trivial = [&] { correlate_reference(out, image, kernel); };
    }
    cpu_figures(what, trivial, [&](int threads) {
      return std::string(method_name(correlate(out, image, kernel, {.threads = threads})));
    });
    const std::vector<float> floats(taps.begin(), taps.end());
    std::vector<float> from_gpu(values.size());
    gpu_figures(what, "one thread a pixel", "tiled", [&](Variant variant) {
      return options_.gpu->correlation(Plane<float>(from_gpu.data(), side, side), image,
                                       Plane<const float>(floats.data(), size, size), variant,
                                       gpu_rounds());
    });
  }

  template <class In>
  void sobel_of(const char* name, int side, const NamedFilter& filter) {
    const auto values = random_values<In>(std::size_t{1} * side * side, 0, 255);
    std::vector<float> results(values.size());
    const Plane<float> out(results.data(), side, side);
    const Plane<const In> image(values.data(), side, side);
    const KernelFigure what{.kernel = name,
                            .filter = std::string(filter.name),
                            .image = side,
                            .rows = filter.rows,
                            .columns = filter.columns};
    Call trivial;
    if (std::is_same_v<In, float>) trivial = [&] { sobel_reference(out, image, filter.plane()); };
    cpu_figures(what, trivial, [&](int threads) {
      sobel(out, image, filter.plane(), {.threads = threads});
      return std::string("direct");
    });
    gpu_figures(what, "one thread a pixel", "tiled", [&](Variant variant) {
      return options_.gpu->sobel(out, image, filter.plane(), variant, gpu_rounds());
    });
  }

  void maximum_figures() {
    const int side = options_.matrix;
    const std::size_t count = std::size_t{1} * side * side;
    const auto a = random_values<std::int32_t>(count, 0, 256);
    const std::vector<std::int32_t> b(a.rbegin(), a.rend());
    std::vector<std::int32_t> results(count);
    const Plane<std::int32_t> out(results.data(), side, side);
    const Plane<const std::int32_t> first(a.data(), side, side), second(b.data(), side, side);
    if (options_.cpu) {
      add_cpu({.kernel = "copy i32", .image = side}, 1, "memcpy",
              time_of([&] { std::memcpy(results.data(), a.data(), count * sizeof(std::int32_t)); },
                      options_.seconds));
    }
    const KernelFigure what{.kernel = "maximum i32", .image = side};
    cpu_figures(
        what, [&] { maximum_reference(out, first, second); },
        [&](int threads) {
          maximum(out, first, second, {.threads = threads});
          return active_simd();
        });
    gpu_figures(what, "one thread a value, blocks of 1000", "16 bytes a thread",
                [&](Variant variant) {
                  return options_.gpu->maximum(out, first, second, variant, gpu_rounds());
                });
  }

  void gram_figures() {
    const int side = options_.matrix;
    const auto values = random_values<float>(std::size_t{1} * side * side, -1, 1);
    std::vector<float> results(values.size());
    const Plane<float> out(results.data(), side, side);
    const Plane<const float> x(values.data(), side, side);
    const KernelFigure what{.kernel = "gram f32", .image = side};
    Call three_loops = [&] { gram_reference(out, x); };
    use_gram_blas(loaded_gram_blas());
    for (const GramMethod method : {GramMethod::kBlocked, GramMethod::kBlas}) {
      if (method == GramMethod::kBlas && loaded_gram_blas().f32 == nullptr) continue;
      cpu_figures(what, std::exchange(three_loops, nullptr), [&](int threads) {
        return std::string(method_name(gram(out, x, {.threads = threads, .method = method})));
      });
    }
    gpu_figures(what, "one block of 1024 threads", "tiled",
                [&](Variant variant) { return options_.gpu->gram(out, x, variant, gpu_rounds()); });
  }

  KernelBenchOptions options_;
  std::vector<KernelFigure> figures_;
};

}  // namespace

std::vector<KernelFigure> measure_kernels(const KernelBenchOptions& options) {
  return KernelBench(options).run();
}

}  // namespace stoker

// `stoker bench kernels`: how long the image kernels take, by size and by threads. Prints tables
// and writes kernels.json and kernels.png. bench/kernels.py compares with other libraries.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/json_text.h"
#include "stoker/core/atomic_file.h"
#include "stoker/core/cpu_budget.h"
#include "stoker/core/rng.h"
#include "stoker/image/png.h"
#include "stoker/kernels/correlation/correlation.h"
#include "stoker/kernels/gram/gram.h"
#include "stoker/kernels/maximum/maximum.h"
#include "stoker/kernels/simd.h"
#include "stoker/kernels/sobel/sobel.h"
#include "stoker/report/line_plot.h"

namespace stoker {
namespace {

constexpr int kMatrixSide = 1000;  // of maximum and X·Xᵀ, as in the documents

struct KernelBenchFlags {
  std::vector<int> sizes = {512, 4096};
  std::vector<int> kernels = {3, 5, 7, 15, 31};
  std::vector<int> threads = {1, 2, 4, 8};
  double seconds = 0.2;  // for each figure
  std::string output = ".";
};

struct Figure {
  std::string kernel;  // "correlation f32", …
  int image;           // side
  int size;            // of the kernel, 0 where there is none
  int threads;
  std::string method;
  double milliseconds;
};

// The median; at least three calls after one that does not count.
double time_of(const std::function<void()>& call, double seconds) {
  using Clock = std::chrono::steady_clock;
  call();
  std::vector<double> times;
  const auto begin = Clock::now();
  do {
    const auto start = Clock::now();
    call();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  } while (times.size() < 3 || Clock::now() - begin < std::chrono::duration<double>(seconds));
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
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
  explicit KernelBench(const KernelBenchFlags& flags) : flags_(flags) {}

  std::vector<Figure> run() {
    for (const int image : flags_.sizes) {
      for (const int size : flags_.kernels) {
        correlation<float>("correlation f32", image, size);
        correlation<std::uint8_t>("correlation u8", image, size);
      }
      sobel_of<float>("sobel f32", image);
      sobel_of<std::uint8_t>("sobel u8", image);
    }
    matrices();
    return figures_;
  }

 private:
  template <class In>
  void correlation(const char* name, int side, int size) {
    using Out = std::conditional_t<std::is_same_v<In, float>, float, std::int32_t>;
    const std::size_t count = std::size_t{1} * side * side;
    const auto image = random_values<In>(count, 0, 255);
    const auto kernel = random_values<Out>(std::size_t{1} * size * size, -20, 20);
    std::vector<Out> out(count);
    CorrelationMethod method{};
    for (const int threads : flags_.threads) {
      const double time = time_of(
          [&] {
            method = correlate(Plane<Out>(out.data(), side, side),
                               Plane<const In>(image.data(), side, side),
                               Plane<const Out>(kernel.data(), size, size), {.threads = threads});
          },
          flags_.seconds);
      figures_.push_back({name, side, size, threads, std::string(method_name(method)), time});
    }
  }

  template <class In>
  void sobel_of(const char* name, int side) {
    const std::size_t count = std::size_t{1} * side * side;
    const auto image = random_values<In>(count, 0, 255);
    std::vector<float> out(count);
    for (const int threads : flags_.threads) {
      const double time = time_of(
          [&] {
            sobel(Plane<float>(out.data(), side, side), Plane<const In>(image.data(), side, side),
                  named_filter("sobel3").plane(), {.threads = threads});
          },
          flags_.seconds);
      figures_.push_back({name, side, 3, threads, "direct", time});
    }
  }

  void matrices() {
    constexpr std::size_t kCount = std::size_t{1} * kMatrixSide * kMatrixSide;
    const auto a = random_values<std::int32_t>(kCount, 0, 255);
    const std::vector<std::int32_t> b(a.rbegin(), a.rend());
    const auto x = random_values<float>(kCount, -1, 1);
    std::vector<std::int32_t> larger(kCount);
    std::vector<float> product(kCount);
    const auto plane = [](auto* data) { return Plane(data, kMatrixSide, kMatrixSide); };
    add("copy i32", 1, "memcpy",
        [&] { std::memcpy(larger.data(), a.data(), kCount * sizeof(std::int32_t)); });
    for (const int threads : flags_.threads) {
      add("maximum i32", threads, active_simd(), [&] {
        maximum(plane(larger.data()), plane(a.data()), plane(b.data()), {.threads = threads});
      });
    }
    add("maximum i32, plain loop", 1, "reference",
        [&] { maximum_reference(plane(larger.data()), plane(a.data()), plane(b.data())); });
    use_gram_blas(loaded_gram_blas());
    for (const GramMethod method : {GramMethod::kBlocked, GramMethod::kBlas}) {
      if (method == GramMethod::kBlas && loaded_gram_blas().f32 == nullptr) continue;
      for (const int threads : flags_.threads) {
        add("gram f32", threads, std::string(method_name(method)), [&] {
          gram(plane(product.data()), plane(x.data()), {.threads = threads, .method = method});
        });
      }
    }
  }

  void add(const char* name, int threads, const std::string& method,
           const std::function<void()>& call) {
    figures_.push_back({name, kMatrixSide, 0, threads, method, time_of(call, flags_.seconds)});
  }

  KernelBenchFlags flags_;
  std::vector<Figure> figures_;
};

void print_tables(const std::vector<Figure>& figures) {
  fmt::print("{:<24} {:>6} {:>7} {:>8} {:>11} {:>10}\n", "kernel", "image", "size", "threads", "ms",
             "method");
  for (const Figure& figure : figures) {
    const std::string size =
        figure.size > 0 ? fmt::format("{0}x{0}", figure.size) : std::string("-");
    fmt::print("{:<24} {:>6} {:>7} {:>8} {:>11.4f} {:>10}\n", figure.kernel, figure.image, size,
               figure.threads, figure.milliseconds, figure.method);
  }
}

nlohmann::ordered_json as_json(const std::vector<Figure>& figures) {
  nlohmann::ordered_json json = {{"simd", active_simd()}, {"cpus", cpu_budget().cpus}};
  for (const Figure& figure : figures) {
    json["figures"].push_back({{"kernel", figure.kernel},
                               {"image", figure.image},
                               {"size", figure.size},
                               {"threads", figure.threads},
                               {"method", figure.method},
                               {"ms", figure.milliseconds}});
  }
  return json;
}

// Nanoseconds a pixel against the kernel's side, one line for each type, image and the fewest
// threads.
Image plot(const std::vector<Figure>& figures, int threads) {
  std::vector<PlotSeries> series;
  for (const Figure& figure : figures) {
    if (figure.threads != threads || !figure.kernel.starts_with("correlation")) continue;
    const std::string name = fmt::format("{}, {}²", figure.kernel.substr(12), figure.image);
    auto found = std::find_if(series.begin(), series.end(),
                              [&](const PlotSeries& line) { return line.name == name; });
    if (found == series.end()) found = series.insert(series.end(), {name, {}, {}});
    found->x.push_back(figure.size);
    found->y.push_back(figure.milliseconds * 1e6 / figure.image / figure.image);
  }
  return line_plot(series, {.title = fmt::format("correlation, {} thread(s)", threads),
                            .x_title = "side of the kernel",
                            .y_title = "ns a pixel",
                            .x_scale = AxisScale::kLog2});
}

void run(const KernelBenchFlags& flags) {
  const std::vector<Figure> figures = KernelBench(flags).run();
  print_tables(figures);
  const std::filesystem::path folder = flags.output;
  std::filesystem::create_directories(folder);
  write_whole_file(folder / "kernels.json", json_text(as_json(figures)) + "\n", "figures");
  write_png(folder / "kernels.png", plot(figures, flags.threads.front()).view());
  fmt::print("{} and kernels.png\n", (folder / "kernels.json").string());
}

}  // namespace

void add_bench_kernels_command(CLI::App& bench) {
  CLI::App* command = bench.add_subcommand(
      "kernels", "Times of correlation, Sobel, maximum and X·Xᵀ, by size and threads");
  auto flags = std::make_shared<KernelBenchFlags>();
  const auto list = [&](const char* name, std::vector<int>& values, const char* meaning) {
    command->add_option(name, values, meaning)
        ->delimiter(',')
        ->check(CLI::Range(1, 1 << 14))
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->capture_default_str();
  };
  list("--sizes", flags->sizes, "sides of the images");
  list("--kernels", flags->kernels, "sides of the kernels, odd");
  list("--threads", flags->threads, "numbers of threads");
  command->add_option("--seconds", flags->seconds, "for each figure")
      ->check(CLI::Range(0.0, 60.0))
      ->capture_default_str();
  command->add_option("-o,--out", flags->output, "folder for kernels.json and kernels.png")
      ->capture_default_str();
  command->callback([flags] { run(*flags); });
}

}  // namespace stoker

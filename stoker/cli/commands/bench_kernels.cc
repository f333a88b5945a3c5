// `stoker bench kernels`: how long the image kernels take, by size, threads and device. Prints
// tables and writes kernels.json and kernels.png. experiments/kernels puts Python's libraries
// beside them.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/kernel_bench.h"
#include "stoker/cli/option_text.h"
#include "stoker/core/atomic_file.h"
#include "stoker/core/cpu_budget.h"
#include "stoker/image/png.h"
#include "stoker/kernels/simd.h"
#include "stoker/report/line_plot.h"
#include "stoker/run/json_text.h"

namespace stoker {
namespace {

struct KernelBenchFlags {
  KernelBenchOptions bench;
  std::string device = "auto";
  std::string output;  // empty: the current folder, or nowhere with --json
  bool json = false;
};

std::string size_text(const KernelFigure& figure) {
  if (figure.rows == 0) return "-";
  const std::string size = fmt::format("{}x{}", figure.rows, figure.columns);
  return figure.filter.empty() ? size : fmt::format("{} {}", figure.filter, size);
}

void print_table(const std::vector<KernelFigure>& figures) {
  fmt::print("{:<16} {:>6} {:>7} {:>6} {:>8} {:>11} {:>14}  {}\n", "kernel", "image", "size",
             "device", "threads", "ms", "with copies", "method");
  for (const KernelFigure& figure : figures) {
    const bool gpu = figure.device == "cuda";
    fmt::print("{:<16} {:>6} {:>7} {:>6} {:>8} {:>11.4f} {:>14}  {}\n", figure.kernel, figure.image,
               size_text(figure), figure.device, gpu ? "-" : std::to_string(figure.threads),
               figure.ms, gpu ? fmt::format("{:.4f}", figure.ms_with_copies) : "-", figure.method);
  }
}

nlohmann::ordered_json as_json(const std::vector<KernelFigure>& figures,
                               const cuda::FoundGpu& device) {
  nlohmann::ordered_json json = {
      {"simd", active_simd()},
      {"cpus", cpu_budget().cpus},
      {"cuda", {{"available", device.gpu != nullptr}, {"reason", device.reason}}},
      {"figures", nlohmann::ordered_json::array()}};
  for (const KernelFigure& figure : figures) {
    nlohmann::ordered_json row = {
        {"kernel", figure.kernel},   {"filter", figure.filter},   {"image", figure.image},
        {"rows", figure.rows},       {"columns", figure.columns}, {"device", figure.device},
        {"threads", figure.threads}, {"method", figure.method},   {"ms", figure.ms}};
    if (figure.device == "cuda") row["ms_with_copies"] = figure.ms_with_copies;
    json["figures"].push_back(std::move(row));
  }
  return json;
}

// Nanoseconds a pixel against the kernel's side: one line for each type, image and device, on the
// CPU with the first number of threads.
Image plot(const std::vector<KernelFigure>& figures, int threads) {
  std::vector<PlotSeries> series;
  for (const KernelFigure& figure : figures) {
    const bool chosen = figure.device == "cuda"
                            ? figure.method == "tiled"
                            : figure.threads == threads && figure.method != "reference";
    if (!chosen || !figure.kernel.starts_with("correlation")) continue;
    const std::string name = fmt::format("{}, {}²{}", figure.kernel.substr(12), figure.image,
                                         figure.device == "cuda" ? ", CUDA" : "");
    auto found = std::find_if(series.begin(), series.end(),
                              [&](const PlotSeries& line) { return line.name == name; });
    if (found == series.end()) found = series.insert(series.end(), {name, {}, {}});
    found->x.push_back(figure.rows);
    found->y.push_back(figure.ms * 1e6 / figure.image / figure.image);
  }
  return line_plot(series, {.title = fmt::format("Correlation, {} thread(s)", threads),
                            .x_title = "side of the kernel",
                            .y_title = "ns per pixel",
                            .x_scale = AxisScale::kLog2});
}

void run(KernelBenchFlags flags) {
  const cuda::FoundGpu device = cuda::choose_gpu(flags.device);
  flags.bench.gpu = device.gpu;
  flags.bench.cpu = flags.device != "cuda";
  const std::vector<KernelFigure> figures = measure_kernels(flags.bench);
  const std::string json = json_text(as_json(figures, device)) + "\n";
  if (flags.json) {
    fmt::print("{}", json);
    if (flags.output.empty()) return;
  } else {
    print_table(figures);
    fmt::print("CUDA: {}{}\n", device.gpu == nullptr ? "not measured, " : "",
               with_flags(device.reason));
  }
  const std::filesystem::path folder = flags.output.empty() ? "." : flags.output;
  std::filesystem::create_directories(folder);
  write_whole_file(folder / "kernels.json", json, "figures");
  write_png(folder / "kernels.png", plot(figures, flags.bench.threads.front()).view());
  if (!flags.json) fmt::print("{} and kernels.png\n", (folder / "kernels.json").string());
}

std::string complaint_about_even_number(const std::string& text) {
  const bool odd = !text.empty() && (text.back() - '0') % 2 != 0;
  return odd ? std::string() : fmt::format("kernels have odd sides, got {}", text);
}

}  // namespace

void add_bench_kernels_command(const Command& bench) {
  const Command command = bench.add_command(
      "kernels", "Measure correlation, Sobel, maximum and X·Xᵀ by size, threads and device");
  auto flags = std::make_shared<KernelBenchFlags>();
  const auto list = [&](const char* name, std::vector<int>& values, const char* meaning) {
    return command.add_option(name, values, meaning)
        .separated_by(',')
        .between(1, 1 << 14)
        .repeatable()
        .show_default();
  };
  list("--sizes", flags->bench.sizes, "sides of the images");
  list("--kernels", flags->bench.kernels, "sides of the kernels, odd")
      .check(complaint_about_even_number);
  list("--threads", flags->bench.threads, "numbers of threads");
  command.add_option("--matrix", flags->bench.matrix, "side of the matrices of maximum and X·Xᵀ")
      .between(1, 1 << 13);
  command.add_option("--seconds", flags->bench.seconds, "seconds for each figure")
      .between(0.0, 60.0);
  command
      .add_option("--device", flags->device,
                  "auto: CPU, and CUDA where there is one; cpu or cuda: that one alone")
      .one_of({"auto", "cpu", "cuda"});
  command.add_flag("--json", flags->json, "print one JSON object");
  command.add_option("-o,--out", flags->output,
                     "folder for kernels.json and kernels.png; with --json none unless given");
  command.on_run([flags] { run(*flags); });
}

}  // namespace stoker

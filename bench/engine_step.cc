// One side of bench/engines.py: what an engine makes of a network for photographs, from a batch
// that lies in memory. Prints images per second, the median of several timed parts, and seconds
// from the start to the first result.
//
//   engine_step resnet18 32 libtorch float32 3
//   engine_step resnet18 onnx FILE: the same network for others
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "stoker/core/cpu_budget.h"
#include "stoker/core/error.h"
#include "stoker/core/pages.h"
#include "stoker/nn/model_file.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/nn/onnx/onnx_export.h"
#include "stoker/run/engine_choice.h"

namespace stoker {
namespace {

constexpr ModelInput kInput = {.image = {.height = 224, .width = 224, .channels = 3},
                               .classes = 1000};
constexpr int kParts = 5;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void measure(const std::string& architecture, std::int64_t batch, const EngineSettings& settings,
             double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  const int cpus = cpu_budget().cpus;
  at::set_num_threads(cpus);
  const auto model = make_model(architecture, kInput, 0);
  const auto engine = make_engine(*model, settings, cpus);
  at::manual_seed(0);
  at::Tensor images = at::randn({batch, 3, 224, 224});
  if (!engine || engine->wants_channels_last()) {
    images = images.contiguous(at::MemoryFormat::ChannelsLast);
  }
  const at::NoGradGuard no_grad;
  const auto step = [&] { return engine ? engine->forward(images) : model->forward(images); };
  step();
  const double first = seconds_since(begin);
  step();
  std::vector<double> speeds;
  for (int i = 0; i < kParts; ++i) {
    const auto start = std::chrono::steady_clock::now();
    std::int64_t steps = 0;
    for (; steps == 0 || seconds_since(start) < seconds / kParts; ++steps) step();
    speeds.push_back(static_cast<double>(steps * batch) / seconds_since(start));
  }
  std::ranges::sort(speeds);
  fmt::print("{:.2f} {:.2f}\n", speeds[kParts / 2], first);
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  try {
    stoker::keep_freed_memory();
    if (argc == 4 && std::string(argv[2]) == "onnx") {
      const auto model = stoker::make_model(argv[1], stoker::kInput, 0);
      stoker::ModelCard card;
      card.architecture = argv[1];
      card.input = stoker::kInput;
      stoker::write_onnx(argv[3], *model, card);
      return 0;
    }
    if (argc != 6) {
      throw stoker::Error({.what = "needed: model, batch size, engine, precision, seconds"});
    }
    stoker::measure(argv[1], std::stoll(argv[2]), {.engine = argv[3], .precision = argv[4]},
                    std::stod(argv[5]));
  } catch (const std::exception& error) {
    fmt::print(stderr, "engine_step: {}\n", error.what());
    return 1;
  }
}

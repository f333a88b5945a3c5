// One side of bench/engines.py: what an engine makes of a network for photographs, from a batch
// that lies in memory.
//
//   engine_step resnet18 32 libtorch float32 3
//     prints images per second, the median of several timed parts, seconds from the start to the
//     first result, and the largest memory in MB
//   engine_step resnet18 onnx FILE, engine_step resnet18 onnx-int8 FILE: the network for others
//   engine_step resnet18 model FILE: the same as a model file, with a calibration
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include "stoker/core/cpu_budget.h"
#include "stoker/core/error.h"
#include "stoker/core/pages.h"
#include "stoker/nn/int8/calibration_engine.h"
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

ModelCard card_of(const Model& model, bool calibrated) {
  ModelCard card;
  card.architecture = model.architecture();
  card.input = model.input();
  for (std::int64_t i = 0; i < kInput.classes; ++i)
    card.class_names.push_back(fmt::format("{}", i));
  card.preprocessing = {.mean = {0.485, 0.456, 0.406, 0},
                        .deviation = {0.229, 0.224, 0.225, 1},
                        .framing = "resize_crop(256,224)"};
  if (calibrated) {
    at::manual_seed(1);
    CalibrationEngine engine(model);
    static_cast<void>(engine.forward(at::randn({4, 3, 224, 224})));
    card.calibration = engine.calibration();
  }
  return card;
}

void measure(const std::string& architecture, std::int64_t batch, const EngineSettings& settings,
             double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  const int cpus = cpu_budget().cpus;
  at::set_num_threads(cpus);
  const auto model = make_model(architecture, kInput, 0);
  const ModelCard card = card_of(*model, settings.precision == "int8");
  const auto engine = make_engine(*model, card, settings, cpus, batch);
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
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  fmt::print("{:.2f} {:.2f} {:.0f}\n", speeds[kParts / 2], first,
             static_cast<double>(used.ru_maxrss) / 1024);
}

void write(const std::string& architecture, const std::string& kind, const std::string& file) {
  const auto model = make_model(architecture, kInput, 0);
  const bool calibrated = kind != "onnx";
  const ModelCard card = card_of(*model, calibrated);
  if (kind == "model") return save_model(file, card, all_tensors(*model));
  write_onnx(file, *model, card, {.int8 = calibrated});
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  try {
    stoker::keep_freed_memory();
    if (argc == 4) {
      stoker::write(argv[1], argv[2], argv[3]);
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

#include "stoker/run/engine_choice.h"

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/nn/inference/inference_network.h"
#include "stoker/nn/openvino/openvino_engine.h"

namespace stoker {
namespace {

// Of one image. Below it, reading images takes longer than computing.
constexpr std::int64_t kWorthMultiplyAdds = 20'000'000;

Precision wanted_precision(const EngineSettings& settings) {
  return settings.precision == "bfloat16" ? Precision::kBfloat16 : Precision::kFloat32;
}

// The model computes in the precision by itself.
std::shared_ptr<Engine> no_engine(Model& model, const EngineSettings& settings) {
  const Precision precision = wanted_precision(settings);
  if (precision != model.precision()) model.compute_in(precision);
  return nullptr;
}

std::shared_ptr<Engine> openvino(const Model& model, const EngineSettings& settings, int threads) {
  if (!model.has_graph()) {
    throw Error({.what = "OpenVINO cannot compute a registered network",
                 .expected = "a network that can be exported",
                 .found = model.architecture(),
                 .hint = "Leave `engine` away"});
  }
  return std::make_shared<OpenVinoEngine>(
      model, OpenVinoEngine::Options{.precision = wanted_precision(settings), .threads = threads});
}

}  // namespace

std::vector<Setting> settings_of(EngineSettings& engine) {
  return {{.name = "engine",
           .help = "libtorch; openvino, if it is installed; training: as validation in training "
                   "computes, to the last bit",
           .place = &engine.engine,
           .scope = SettingScope::kRun,
           .choices = {"libtorch", "openvino", "training"}},
          {.name = "precision",
           .help = "of the network; auto: float32",
           .place = &engine.precision,
           .scope = SettingScope::kRun,
           .choices = {"auto", "float32", "bfloat16"}}};
}

std::shared_ptr<Engine> make_engine(Model& model, const EngineSettings& settings, int threads) {
  if (settings.engine == "openvino") return openvino(model, settings, threads);
  const bool by_itself = settings.engine == "training" || !model.device().is_cpu() ||
                         !model.has_graph() || model.multiply_adds() < kWorthMultiplyAdds;
  if (by_itself) return no_engine(model, settings);
  return std::make_shared<InferenceNetwork>(
      model, InferenceOptions{.precision = wanted_precision(settings), .threads = threads});
}

}  // namespace stoker

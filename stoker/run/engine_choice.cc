#include "stoker/run/engine_choice.h"

#include <algorithm>

#include "stoker/core/error.h"
#include "stoker/nn/inference/inference_network.h"
#include "stoker/nn/onnxruntime/onnxruntime_engine.h"
#include "stoker/nn/openvino/openvino_engine.h"

namespace stoker {
namespace {

Precision precision_of(const EngineSettings& settings) {
  const std::string name = wanted_precision(settings);
  if (name == "int8") return Precision::kInt8;
  return name == "bfloat16" ? Precision::kBfloat16 : Precision::kFloat32;
}

// The model computes in the precision by itself.
std::shared_ptr<Engine> no_engine(Model& model, const EngineSettings& settings) {
  const Precision precision = precision_of(settings);
  if (precision == Precision::kInt8) {
    throw Error({.what = "int8 is not for this",
                 .expected = "an engine that is not training's, on a CPU, and a network that can "
                             "be exported",
                 .found = model.architecture() + " on " + model.device().str()});
  }
  if (precision != model.precision()) model.compute_in(precision);
  return nullptr;
}

void check_exportable(const Model& model, const EngineSettings& settings) {
  if (model.has_graph()) return;
  throw Error({.what = settings.engine + " cannot compute a registered network",
               .expected = "a network that can be exported",
               .found = model.architecture(),
               .hint = "Leave `engine` away"});
}

// The fastest that is installed here.
std::shared_ptr<Engine> make_chosen(Model& model, const ModelCard& card,
                                    const EngineSettings& settings, int threads,
                                    std::int64_t batch_size) {
  for (const std::string& name : agreeing_engines(card.engines, wanted_precision(settings))) {
    try {
      return make_engine(model, card, {.engine = name, .precision = settings.precision}, threads,
                         batch_size);
    } catch (const Error&) {  // not on this machine
      continue;
    }
  }
  return make_engine(model, card, {.engine = "libtorch", .precision = settings.precision}, threads,
                     batch_size);
}

}  // namespace

std::vector<Setting> settings_of(EngineSettings& engine) {
  return {
      {.name = "engine",
       .help = "libtorch; openvino or onnxruntime, if installed; auto: the fastest that `stoker "
               "eval --engine auto` found; training: as validation in training computes, to "
               "the last bit",
       .place = &engine.engine,
       .scope = SettingScope::kRun,
       .choices = {"libtorch", "openvino", "onnxruntime", "auto", "training"}},
      {.name = "precision",
       .help = "of the network; auto: float32; int8 needs `stoker calibrate`",
       .place = &engine.precision,
       .scope = SettingScope::kRun,
       .choices = {"auto", "float32", "bfloat16", "int8"}}};
}

EngineSettings checked_engine(const std::string& engine, const std::string& precision) {
  EngineSettings checked;
  for (const Setting& setting : settings_of(checked)) {
    set_texts(setting, {setting.name == "engine" ? engine : precision});
  }
  return checked;
}

const std::vector<std::string>& engine_names() {
  static const std::vector<std::string> names = {"libtorch", "openvino", "onnxruntime"};
  return names;
}

std::string wanted_precision(const EngineSettings& settings) {
  return settings.precision == "auto" ? "float32" : settings.precision;
}

std::vector<std::string> agreeing_engines(const EngineTrial& trial, const std::string& precision) {
  std::vector<EngineFigure> found;
  for (const EngineFigure& figure : trial.figures) {
    const bool agrees = figure.same == 1 || precision != "float32";
    const bool known = std::ranges::count(engine_names(), figure.engine) > 0;
    if (figure.precision == precision && agrees && known) found.push_back(figure);
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &EngineFigure::images_per_second);
  std::vector<std::string> names;
  for (const EngineFigure& figure : found) names.push_back(figure.engine);
  return names;
}

std::shared_ptr<Engine> make_engine(Model& model, const ModelCard& card,
                                    const EngineSettings& settings, int threads,
                                    std::int64_t batch_size) {
  if (settings.engine == "auto") return make_chosen(model, card, settings, threads, batch_size);
  const Precision precision = precision_of(settings);
  const bool is_int8 = precision == Precision::kInt8;
  const EngineOptions options{.precision = precision,
                              .threads = threads,
                              .batch_size = batch_size,
                              .calibration = is_int8 ? &needed_calibration(card) : nullptr};
  if (settings.engine == "openvino") {
    check_exportable(model, settings);
    return std::make_shared<OpenVinoEngine>(model, options);
  }
  if (settings.engine == "onnxruntime") {
    check_exportable(model, settings);
    return std::make_shared<OnnxRuntimeEngine>(model, options);
  }
  const bool can =
      is_int8 ? model.device().is_cpu() && model.has_graph() : is_worth_inference(model);
  if (settings.engine == "training" || !can) return no_engine(model, settings);
  return std::make_shared<InferenceNetwork>(model, options);
}

}  // namespace stoker

// What computes a trained network: the engine that the user names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stoker/core/setting.h"
#include "stoker/nn/engine.h"
#include "stoker/nn/model_file.h"

namespace stoker {

struct EngineSettings {
  // "libtorch"; "openvino"; "onnxruntime"; "auto": the fastest of the model file's trial
  // (run/engine_trials.h), else libtorch; "training": the network as validation in training
  // computes it, to the last bit.
  std::string engine = "libtorch";
  std::string precision = "auto";  // float32, bfloat16, int8; auto is float32
};
// Their list.
[[nodiscard]] std::vector<Setting> settings_of(EngineSettings& engine);
// Throws Error where one of them is none that exists.
[[nodiscard]] EngineSettings checked_engine(const std::string& engine,
                                            const std::string& precision);

// None where the model itself is to compute: as the user wants it, on a GPU, and small networks and
// those that do not say what they compute, for which there is no faster form. Throws Error for an
// engine or a precision that is not to be had. Call it when the model is where it computes.
// `batch_size`: of the largest batches; 0: not known.
[[nodiscard]] std::shared_ptr<Engine> make_engine(Model& model, const ModelCard& card,
                                                  const EngineSettings& settings, int threads,
                                                  std::int64_t batch_size = 0);

// Engines that "auto" chooses from.
[[nodiscard]] const std::vector<std::string>& engine_names();

// The engines of a trial with this precision that have the same classes as training's form, the
// fastest first. Lower precisions may differ in a few.
[[nodiscard]] std::vector<std::string> agreeing_engines(const EngineTrial& trial,
                                                        const std::string& precision);

// "float32" for "auto".
[[nodiscard]] std::string wanted_precision(const EngineSettings& settings);

}  // namespace stoker

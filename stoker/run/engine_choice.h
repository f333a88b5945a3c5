// What computes a trained network: the engine that the user names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stoker/core/setting.h"
#include "stoker/nn/engine.h"
#include "stoker/nn/model.h"

namespace stoker {

struct EngineSettings {
  // "libtorch"; "openvino"; "training": the network as validation in training computes it, to the
  // last bit.
  std::string engine = "libtorch";
  std::string precision = "auto";  // float32, bfloat16; auto is float32
};
// Their list.
[[nodiscard]] std::vector<Setting> settings_of(EngineSettings& engine);

// None where the model itself is to compute: as the user wants it, on a GPU, and small networks and
// those that do not say what they compute, for which there is no faster form. Throws Error for a
// precision that is not to be had. Call it when the model is where it computes.
[[nodiscard]] std::shared_ptr<Engine> make_engine(Model& model, const EngineSettings& settings,
                                                  int threads);

}  // namespace stoker

// A network as the engines of other programs read it: ONNX, from normalised pixels to logits.
#pragma once

#include <string>

#include "stoker/nn/engine.h"

namespace stoker {

inline constexpr const char* kEngineInput = "pixels";
inline constexpr const char* kEngineOutput = "logits";

// Of kInt8 with the options' calibration. Throws Error where ONNX has no form for the network.
[[nodiscard]] std::string engine_onnx(const Model& model, const EngineOptions& options);

}  // namespace stoker

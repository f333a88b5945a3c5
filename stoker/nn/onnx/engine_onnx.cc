#include "stoker/nn/onnx/engine_onnx.h"

#include "stoker/core/invariant.h"
#include "stoker/nn/model_file.h"
#include "stoker/nn/onnx/onnx_export.h"

namespace stoker {

std::string engine_onnx(const Model& model, const EngineOptions& options) {
  ModelCard card;
  card.architecture = model.architecture();
  card.input = model.input();
  const bool int8 = options.precision == Precision::kInt8;
  if (int8) {
    STOKER_INVARIANT(options.calibration != nullptr, "int8 without a calibration");
    card.calibration = *options.calibration;
  }
  return encode_onnx(model, card, {.int8 = int8});
}

}  // namespace stoker

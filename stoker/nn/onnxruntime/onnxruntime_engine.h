// A network computed by ONNX Runtime, on a CPU.
#pragma once

#include <memory>
#include <string>

#include "stoker/nn/engine.h"

namespace stoker {

class OnnxRuntimeEngine final : public Engine {
 public:
  // Throws Error where there is no ONNX Runtime, where it refuses the network, and for bfloat16,
  // which it does not compute on CPUs.
  OnnxRuntimeEngine(const Model& model, const EngineOptions& options);
  ~OnnxRuntimeEngine() override;

  [[nodiscard]] at::Tensor forward(const at::Tensor& x) override;
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] bool wants_channels_last() const override { return false; }

 private:
  struct Session;

  ModelInput input_;
  EngineOptions options_;
  std::unique_ptr<Session> session_;
};

}  // namespace stoker

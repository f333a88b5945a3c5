// A network computed by OpenVINO, which reads it as ONNX.
#pragma once

#include <memory>
#include <string>

#include "stoker/nn/engine.h"

namespace stoker {

class OpenVinoEngine final : public Engine {
 public:
  // Throws Error where there is no OpenVINO, and where it refuses the network.
  OpenVinoEngine(const Model& model, const EngineOptions& options);
  ~OpenVinoEngine() override;

  [[nodiscard]] at::Tensor forward(const at::Tensor& x) override;
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] bool wants_channels_last() const override { return false; }

 private:
  struct Network;
  struct Compiled;

  ModelInput input_;
  EngineOptions options_;
  std::unique_ptr<Network> network_;
  [[nodiscard]] Compiled& parts();
  [[nodiscard]] Compiled& singles();

  // For batches of several parts, each computed by one thread, and for single images, each computed
  // by all. The one that is not for the usual batches is made when first wanted.
  std::unique_ptr<Compiled> parts_, singles_;
};

}  // namespace stoker

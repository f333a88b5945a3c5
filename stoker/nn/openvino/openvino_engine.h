// A network computed by OpenVINO, which reads it as ONNX.
#pragma once

#include <memory>

#include "stoker/nn/engine.h"
#include "stoker/nn/model.h"

namespace stoker {

class OpenVinoEngine final : public Engine {
 public:
  struct Options {
    Precision precision = Precision::kFloat32;  // not kFloat16
    int threads = 1;                            // each computes images of its own
    std::int64_t part = 8;                      // images computed together
  };
  // Throws Error where there is no OpenVINO, or where it refuses the network.
  OpenVinoEngine(const Model& model, const Options& options);
  ~OpenVinoEngine() override;

  [[nodiscard]] at::Tensor forward(const at::Tensor& x) override;
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] bool wants_channels_last() const override { return false; }

 private:
  struct Compiled;
  ModelInput input_;
  Options options_;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace stoker

// Measures which numbers the layers of a network see, as images pass through it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "stoker/nn/engine.h"
#include "stoker/nn/graph/graph_executor.h"
#include "stoker/nn/graph/inference_graph.h"

namespace stoker {

class CalibrationEngine final : public Engine {
 public:
  // Throws Error for a network that does not say what it computes, and for one without layers that
  // int8 is for.
  explicit CalibrationEngine(const Model& model);

  // In float32; also notes the ranges.
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) override;
  [[nodiscard]] std::string description() const override { return "LibTorch, calibrating"; }

  // Of all images so far: means of the least and of the most of each image, so that a single odd
  // image does not widen a range.
  [[nodiscard]] Calibration calibration() const;

 private:
  struct Sum {
    double least = 0, most = 0;
  };
  [[nodiscard]] at::Tensor forward_part(const at::Tensor& x);
  void note(std::uint32_t value, const at::Tensor& tensor, std::int64_t samples);

  ModelInput input_;
  InferenceGraph network_;
  GraphExecutor executor_;
  std::map<std::uint32_t, Sum> sums_;
  std::uint64_t images_ = 0;
};

}  // namespace stoker

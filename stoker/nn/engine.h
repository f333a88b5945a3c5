// Engine: computes what a trained network says of images. Training has its own form of a network
// (nn/model.h), which may change; an engine's is fixed, so it can be faster.
#pragma once

#include <cstdint>
#include <string>

#include <ATen/core/Tensor.h>

#include "stoker/nn/calibration.h"
#include "stoker/nn/model.h"

namespace stoker {

struct EngineOptions {
  Precision precision = Precision::kFloat32;  // not kFloat16
  int threads = 1;
  std::int64_t batch_size = 0;               // of the largest batches; 0: not known
  const Calibration* calibration = nullptr;  // of kInt8
};

class Engine {
 public:
  Engine() = default;
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Logits as Model::forward() gives them, but for rounding: (samples, outputs), float32. `x` is
  // (samples, channels, height, width), float32. One thread at a time.
  [[nodiscard]] virtual at::Tensor forward(const at::Tensor& x) = 0;

  // In which order of memory it reads `x` without a copy.
  [[nodiscard]] virtual bool wants_channels_last() const { return true; }

  // For people: "LibTorch, bfloat16, 2 threads".
  [[nodiscard]] virtual std::string description() const = 0;
};

// Throws Error unless `x` is a batch for such a network.
void check_batch(const ModelInput& input, const at::Tensor& x);

}  // namespace stoker

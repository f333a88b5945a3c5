// Engine: computes what a trained network says of images. Training has its own form of a network
// (nn/model.h), which may change; an engine's is fixed, so it can be faster.
#pragma once

#include <string>

#include <ATen/core/Tensor.h>

namespace stoker {

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

}  // namespace stoker

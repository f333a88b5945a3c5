// The multi-layer perceptron of the assignments, described by its sizes: {784, 128, 10} has one
// hidden layer. The last layer gives logits; softmax and cross entropy belong to the loss.
//
// Its backward pass is written out, with the building blocks of blocks.h; a test holds it against
// autograd's. Not shared between threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "stoker/nn/blocks.h"

namespace stoker {

enum class Activation : std::uint8_t { kSigmoid, kRelu };

struct MlpParameters {
  std::vector<at::Tensor> weights;  // (size_i, size_{i+1})
  std::vector<at::Tensor> biases;   // size_{i+1}
};

class Mlp {
 public:
  Mlp(LayerSizes sizes, Activation activation, std::uint64_t seed);

  // Logits (samples, classes) of `x` (samples, size_0); any further dimensions of a sample are
  // flattened.
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const;

  struct Gradients {
    double loss = 0;  // mean cross entropy over the batch
    MlpParameters parameters;
  };
  // Of the mean cross entropy against `labels` (int64, one a sample).
  [[nodiscard]] Gradients gradients(const at::Tensor& x, const at::Tensor& labels) const;

  [[nodiscard]] const LayerSizes& sizes() const noexcept { return sizes_; }
  [[nodiscard]] Activation activation() const noexcept { return activation_; }
  [[nodiscard]] MlpParameters& parameters() noexcept { return parameters_; }
  [[nodiscard]] const MlpParameters& parameters() const noexcept { return parameters_; }

 private:
  [[nodiscard]] at::Tensor activate(const at::Tensor& z) const;
  [[nodiscard]] at::Tensor activate_prime(const at::Tensor& z) const;
  [[nodiscard]] at::Tensor flattened(const at::Tensor& x) const;

  LayerSizes sizes_;
  Activation activation_;
  MlpParameters parameters_;
};

}  // namespace stoker

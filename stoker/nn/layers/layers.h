// Layers for networks that autograd differentiates: tensors with their names and what they do.
// Convolutions keep their weights, and expect their input, in the order sample, row, column,
// channel ("channels last"): oneDNN is 1.3 to 1.5 times as fast with it on CPUs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "stoker/nn/layers/rectified_norm.h"
#include "stoker/nn/model.h"

namespace stoker {

// Numbers layers, so that each starts from its own random numbers.
struct LayerSeed {
  std::uint64_t seed = 0;
  std::uint64_t next_layer = 0;
};

struct Convolution {
  at::Tensor weight;  // (outputs, inputs / groups, side, side), no bias: a BatchNorm follows
  std::int64_t stride = 1;
  std::int64_t groups = 1;  // each sees its own part of the inputs

  // Padded so that a stride of 1 keeps the size; He's uniform initialisation.
  Convolution(std::int64_t inputs, std::int64_t outputs, std::int64_t side, LayerSeed& seed);
  // With these weights; the side is odd.
  explicit Convolution(const at::Tensor& weights);
  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const;
  void append_parameters(const std::string& name, std::vector<NamedTensor>& out) const;
  GraphReference append_nodes(const std::string& name, GraphBuilder& graph, GraphReference x) const;
  void to(const at::Device& device);
};

struct BatchNorm {
  static constexpr double kVarianceFloor = 1e-5;  // added to the variance

  at::Tensor weight, bias;                    // learned
  at::Tensor running_mean, running_variance;  // a mean over past batches, for use
  at::Tensor batches;                         // int64: how many there were, if they are counted

  explicit BatchNorm(std::int64_t channels);
  // torchvision's files have this number, so networks that exchange files with it count; nothing
  // is computed from it.
  void count_batches();
  // In training, normalises by the batch and moves the running statistics; Error where a channel
  // has a single value.
  [[nodiscard]] at::Tensor operator()(const at::Tensor& x, const StageContext& context) const;
  // The same, kept between bounds; in training on the CPU in fewer passes over memory.
  [[nodiscard]] at::Tensor rectified(const at::Tensor& x, const StageContext& context,
                                     const Bounds& bounds) const;
  void append_parameters(const std::string& name, std::vector<NamedTensor>& out) const;
  void append_buffers(const std::string& name, std::vector<NamedTensor>& out) const;
  GraphReference append_nodes(const std::string& name, GraphBuilder& graph, GraphReference x) const;
  void to(const at::Device& device);

 private:
  [[nodiscard]] NormTensors tensors() const;
};

struct Linear {
  at::Tensor weight, bias;  // (outputs, inputs)

  Linear(std::int64_t inputs, std::int64_t outputs, LayerSeed& seed);
  Linear(const at::Tensor& weights, const at::Tensor& biases);
  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const;
  void append_parameters(const std::string& name, std::vector<NamedTensor>& out) const;
  void to(const at::Device& device);
};

// Throws Error where batch norms cannot learn from `x`: one value has no variance, and LibTorch
// would make the running one NaN.
void check_norm_batch(const at::Tensor& x);

// In place: neither batch norm nor addition needs its output for the gradient.
[[nodiscard]] at::Tensor kept_between(at::Tensor x, const Bounds& bounds);

}  // namespace stoker

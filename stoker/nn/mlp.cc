#include "stoker/nn/mlp.h"

#include <utility>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker {

Mlp::Mlp(LayerSizes sizes, Activation activation, std::uint64_t seed)
    : sizes_(std::move(sizes)),
      activation_(activation),
      parameters_{random_weights(sizes_, seed), zeros_biases(sizes_)} {}

at::Tensor Mlp::activate(const at::Tensor& z) const {
  return activation_ == Activation::kSigmoid ? stoker::sigmoid(z) : at::relu(z);
}

at::Tensor Mlp::activate_prime(const at::Tensor& z) const {
  return activation_ == Activation::kSigmoid ? sigmoid_prime(z) : (z > 0).to(z.dtype());
}

at::Tensor Mlp::flattened(const at::Tensor& x) const {
  const at::Tensor rows = x.flatten(1);
  if (rows.size(1) == sizes_.front()) return rows;
  throw Error({.what = "the network does not fit the data",
               .expected = fmt::format("{} values a sample, its first layer", sizes_.front()),
               .found = fmt::format("{}", rows.size(1)),
               .hint = fmt::format("Begin the sizes with {}", rows.size(1))});
}

at::Tensor Mlp::forward(const at::Tensor& x) const {
  at::Tensor a = flattened(x);
  const std::size_t layers = parameters_.weights.size();
  for (std::size_t i = 0; i < layers; ++i) {
    const at::Tensor z = at::addmm(parameters_.biases[i], a, parameters_.weights[i]);
    a = i + 1 < layers ? activate(z) : z;
  }
  return a;
}

// With z_i = a_i W_i + b_i, a_{i+1} = f(z_i) and d_i = dLoss/dz_i over a batch of n:
//   d_last = (softmax(z_last) - onehot(labels)) / n
//   dLoss/dW_i = a_iᵀ d_i,  dLoss/db_i = sum of d_i over the batch
//   d_{i-1} = (d_i W_iᵀ) * f'(z_{i-1})
Mlp::Gradients Mlp::gradients(const at::Tensor& x, const at::Tensor& labels) const {
  const std::size_t layers = parameters_.weights.size();
  std::vector<at::Tensor> inputs = {flattened(x)}, sums;
  for (std::size_t i = 0; i < layers; ++i) {
    sums.push_back(at::addmm(parameters_.biases[i], inputs[i], parameters_.weights[i]));
    if (i + 1 < layers) inputs.push_back(activate(sums[i]));
  }
  const auto samples = static_cast<double>(labels.size(0));
  const at::Tensor log_probabilities = sums.back().log_softmax(1);
  const at::Tensor column = labels.unsqueeze(1);
  Gradients result;
  result.loss = -log_probabilities.gather(1, column).sum().item<double>() / samples;
  result.parameters = {std::vector<at::Tensor>(layers), std::vector<at::Tensor>(layers)};
  const at::Tensor ones = at::ones(column.sizes(), sums.back().options());
  at::Tensor d = log_probabilities.exp().scatter_add(1, column, -ones) / samples;
  for (std::size_t i = layers; i-- > 0;) {
    result.parameters.weights[i] = inputs[i].t().mm(d);
    result.parameters.biases[i] = d.sum(0);
    if (i > 0) d = d.mm(parameters_.weights[i].t()) * activate_prime(sums[i - 1]);
  }
  return result;
}

}  // namespace stoker

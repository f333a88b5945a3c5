#include "stoker/nn/layers/blocks.h"

#include <cmath>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/nn/layers/initial_weights.h"

namespace stoker {
namespace {

at::Tensor xavier(std::int64_t inputs, std::int64_t outputs, std::uint64_t seed,
                  std::uint64_t layer) {
  const double bound = std::sqrt(6.0 / static_cast<double>(inputs + outputs));
  return uniform_weights({inputs, outputs}, bound, seed, layer);
}

std::string shape_text(const at::Tensor& tensor) {
  std::string text;
  for (const std::int64_t side : tensor.sizes())
    text += fmt::format("{}{}", text.empty() ? "" : "x", side);
  return text;
}

}  // namespace

void check_layer_sizes(const LayerSizes& sizes) {
  bool positive = true;
  for (const std::int64_t size : sizes) positive = positive && size >= 1 && size <= 1 << 24;
  if (sizes.size() >= 2 && positive) return;
  std::string found;
  for (const std::int64_t size : sizes)
    found += fmt::format("{}{}", found.empty() ? "" : ",", size);
  throw Error({.what = "cannot make a network of these layers",
               .expected = "at least two sizes of 1 to 2^24, e.g. 784,128,10",
               .found = found.empty() ? "none" : found});
}

at::Tensor sigmoid(const at::Tensor& x) {
  // With e = exp(-|x|) <= 1: 1 / (1 + e) for x >= 0, e / (1 + e) below.
  const at::Tensor e = x.abs().neg().exp();
  return at::where(x >= 0, at::ones_like(e), e) / (1 + e);
}

at::Tensor sigmoid_prime(const at::Tensor& x) {
  // e / (1 + e)^2, the same on both sides: 1 - sigmoid(x) would lose all digits for large x.
  const at::Tensor e = x.abs().neg().exp();
  return e / (1 + e).square();
}

std::vector<at::Tensor> random_weights(const LayerSizes& sizes, std::uint64_t seed) {
  check_layer_sizes(sizes);
  std::vector<at::Tensor> weights;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    weights.push_back(xavier(sizes[i], sizes[i + 1], seed, i));
  }
  return weights;
}

std::vector<at::Tensor> zeros_weights(const LayerSizes& sizes) {
  check_layer_sizes(sizes);
  std::vector<at::Tensor> weights;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    weights.push_back(at::zeros({sizes[i], sizes[i + 1]}, at::kFloat));
  }
  return weights;
}

std::vector<at::Tensor> zeros_biases(const LayerSizes& sizes) {
  check_layer_sizes(sizes);
  std::vector<at::Tensor> biases;
  for (std::size_t i = 1; i < sizes.size(); ++i)
    biases.push_back(at::zeros({sizes[i]}, at::kFloat));
  return biases;
}

std::vector<at::Tensor> add_elementwise(const std::vector<at::Tensor>& a,
                                        const std::vector<at::Tensor>& b) {
  if (a.size() != b.size()) {
    throw Error({.what = "cannot add lists of tensors",
                 .expected = fmt::format("{} tensors", a.size()),
                 .found = fmt::format("{}", b.size())});
  }
  std::vector<at::Tensor> sums;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].sizes() != b[i].sizes()) {
      throw Error({.what = fmt::format("cannot add tensors {} of two lists", i),
                   .expected = shape_text(a[i]),
                   .found = shape_text(b[i])});
    }
    sums.push_back(a[i] + b[i]);
  }
  return sums;
}

}  // namespace stoker

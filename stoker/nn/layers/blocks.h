// The building blocks of the assignments' network, plain and named. Tensors are float32 and, like
// everything of LibTorch, may be used by one thread at a time unless only read.
//
// A network of sizes {s0, …, sL} has L weight matrices of shape (s_i, s_{i+1}) and L bias vectors
// of s_{i+1}; for a batch with one sample a row, z = x W + b, which is Wᵀx + b for each sample.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace stoker {

using LayerSizes = std::vector<std::int64_t>;

// Throws Error unless there are at least two layers, each with at least one unit.
void check_layer_sizes(const LayerSizes& sizes);

// 1 / (1 + exp(-x)), to be called as stoker::sigmoid, since LibTorch has one too: neither overflows
// nor becomes NaN for any finite x.
[[nodiscard]] at::Tensor sigmoid(const at::Tensor& x);
// sigmoid(x) (1 - sigmoid(x))
[[nodiscard]] at::Tensor sigmoid_prime(const at::Tensor& x);

// Xavier's: uniform in ± sqrt(6 / (s_i + s_{i+1})), from our own generator, so that a seed means
// the same numbers on every machine and for every version of LibTorch.
[[nodiscard]] std::vector<at::Tensor> random_weights(const LayerSizes& sizes, std::uint64_t seed);
[[nodiscard]] std::vector<at::Tensor> zeros_weights(const LayerSizes& sizes);
[[nodiscard]] std::vector<at::Tensor> zeros_biases(const LayerSizes& sizes);

// a[i] + b[i] for each pair; Error where numbers or shapes differ.
[[nodiscard]] std::vector<at::Tensor> add_elementwise(const std::vector<at::Tensor>& a,
                                                      const std::vector<at::Tensor>& b);

}  // namespace stoker

// What several families of built-in networks are made of.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "stoker/core/invariant.h"
#include "stoker/nn/graph/graph_builder.h"

namespace stoker {

[[nodiscard]] InitialValues uniform_start(double bound);
[[nodiscard]] InitialValues normal_start(double deviation);
// Keeps the variance of gradients through a convolution and a rectifier (He et al., 2015), as
// PyTorch's kaiming_normal_ with fan_out computes it: groups are not counted.
[[nodiscard]] InitialValues rectified_start(std::int64_t outputs, std::int64_t side);

// Layer norm over the channels of a map (samples, channels, rows, columns).
GraphReference channel_norm(GraphBuilder& b, const std::string& name, GraphReference x,
                            std::int64_t channels, double epsilon);

// A convolution and its batch norm, which have a name each; `shape` has no bias.
struct NormedConvolution {
  std::string convolution, norm;
  ConvolutionShape shape;
  BatchNormShape batch_norm = {};  // its channels are the outputs
  std::string activation = {};     // "aten::relu_"; none where empty
};
GraphReference normed_convolution(GraphBuilder& b, GraphReference x, NormedConvolution layer);

// Squeeze and excitation (Hu et al., 2018): each channel times a number from 0 to 1 that a small
// network makes of the means of all channels.
struct Excitation {
  std::string narrow, widen;  // names of its two layers
  std::int64_t channels = 0, squeezed = 0;
  std::string activation, gate;  // "aten::relu", "aten::sigmoid"
  bool torch_bias = false;       // biases start as PyTorch's, else at 0
};
GraphReference excite(GraphBuilder& b, GraphReference x, const Excitation& layer);

// The nearest multiple of 8 that is not more than a tenth below.
[[nodiscard]] std::int64_t round_channels(double channels);

// The settings of a network: a row of its family's table.
template <typename Row, std::size_t kRows>
const Row& row_of(const std::array<Row, kRows>& table, const std::string& member) {
  const auto found =
      std::ranges::find_if(table, [&](const Row& row) { return row.name == member; });
  STOKER_INVARIANT(found != table.end(), "{}", member);
  return *found;
}
template <typename Row, std::size_t kRows>
std::vector<std::string> names_in(const std::array<Row, kRows>& table) {
  std::vector<std::string> names;
  for (const Row& row : table) names.emplace_back(row.name);
  return names;
}

}  // namespace stoker

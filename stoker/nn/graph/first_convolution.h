// The layer of a graph that sees the images, and its weights for another number of channels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "stoker/io/exported_program.h"

namespace stoker {

// Where among the inputs a node has its weights; nullopt where they are computed.
[[nodiscard]] std::optional<std::size_t> weight_place(const GraphNode& node,
                                                      const ExportedGraph& graph);

// Places of the weights of all convolutions of images, among the graph's inputs.
[[nodiscard]] std::vector<std::size_t> first_convolutions(const ExportedGraph& graph);

// Weights (outputs, inputs, rows, columns) for another number of inputs: for one the sum of all,
// since grey is the same in each (timm's in_chans=1); for more, repeated and scaled so that what
// they add up to stays.
[[nodiscard]] at::Tensor with_channels(const at::Tensor& weight, std::int64_t channels);

}  // namespace stoker

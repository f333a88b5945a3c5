// Batch norms become part of the convolutions in front of them: in use a norm is a factor and an
// offset for each channel, which weights and bias can hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "stoker/nn/graph/inference_graph.h"

namespace stoker {

// Where the convolution's weights are known and nothing else uses its result. Others stay.
[[nodiscard]] InferenceGraph with_folded_norms(InferenceGraph network);

// How many times the nodes, and the graph's output, use each value.
[[nodiscard]] std::vector<std::size_t> count_uses(const ExportedGraph& graph);

// For each value its place among the inputs; -1 where a node makes it.
[[nodiscard]] std::vector<std::ptrdiff_t> input_places(const ExportedGraph& graph);

}  // namespace stoker

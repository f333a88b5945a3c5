// Finds what can be computed in one pass with a convolution or a matrix product: the addition of a
// residual branch and an activation.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stoker/nn/graph/inference_graph.h"
#include "stoker/nn/graph/trace_values.h"

namespace stoker {

// Several nodes that became one.
struct FusedLayer {
  GraphNode layer;                           // the convolution or product itself
  std::optional<GraphReference> added = {};  // to its result
  bool writes_added = false;                 // whose memory nobody else uses: the result goes there
  std::string activation = "none";           // as oneDNN calls it
  std::vector<double> numbers = {};          // of the activation
  std::string algorithm = {};                // and its variant
};

struct FusedGraph {
  InferenceGraph network;
  std::map<std::size_t, FusedLayer> layers;  // by the place of their node
};

// A convolution or matrix product of something that depends on images, with weights that are known
// before any image is.
[[nodiscard]] bool is_layer(const InferenceGraph& network, const std::vector<TracedValue>& values,
                            const GraphNode& node);

// Whether the layer can compute the activation; oneDNN's name.
using FusesActivation = bool (*)(const GraphNode& layer, const std::string& activation);

// `values`: trace_values() of the same network. Nodes of layers have the target kFusedTarget, and
// what they use as arguments. With `fuses`, products are not fused with a sum.
[[nodiscard]] FusedGraph fuse_layers(InferenceGraph network, const std::vector<TracedValue>& values,
                                     FusesActivation fuses = nullptr);

inline constexpr const char* kFusedTarget = "stoker::fused";

}  // namespace stoker

// A network as in use, as one graph from normalised pixels to what it predicts: for files that
// other programs read (nn/onnx, nn/graph/exported_file.h).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "stoker/image/image.h"
#include "stoker/io/exported_program.h"
#include "stoker/nn/model.h"

namespace stoker {

struct ModelCard;

struct InferenceGraph {
  ExportedGraph graph;
  std::vector<at::Tensor> tensors;  // of the graph's inputs, in their order; none for the images
};

// Without what only training needs: nothing is dropped or drawn, batch norms use their running
// statistics, no operator works in place, and every node counts for the output. That is the logits
// of a classifier, probabilities of several labels, or numbers in the units of the targets.
// Throws Error for a network that does not say what it computes (stoker/network.h).
[[nodiscard]] InferenceGraph inference_graph(const Model& model, const ModelCard& card);

// The tensor that an argument names; undefined where the argument is missing, or computed.
[[nodiscard]] at::Tensor tensor_argument(const InferenceGraph& network, const GraphNode& node,
                                         std::string_view name);

// What training's nodes compute in use; also removes those that nothing depends on.
[[nodiscard]] ExportedGraph without_training(const ExportedGraph& graph);

}  // namespace stoker

#include "stoker/nn/graph/first_convolution.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "stoker/nn/graph/graph_nodes.h"

namespace stoker {

std::optional<std::size_t> weight_place(const GraphNode& node, const ExportedGraph& graph) {
  const auto weight = reference_argument(node.arguments, "weight");
  if (!weight) return std::nullopt;
  const auto found = std::ranges::find(graph.inputs, *weight, &GraphInput::value);
  if (found == graph.inputs.end()) return std::nullopt;
  return static_cast<std::size_t>(found - graph.inputs.begin());
}

std::vector<std::size_t> first_convolutions(const ExportedGraph& graph) {
  const auto images = std::ranges::find(graph.inputs, GraphInput::Kind::kImages, &GraphInput::kind);
  std::vector<std::size_t> places;
  for (const GraphNode& node : graph.nodes) {
    if (node.target != "aten::conv2d") continue;
    if (reference_argument(node.arguments, "input") != images->value) continue;
    if (const auto place = weight_place(node, graph)) places.push_back(*place);
  }
  return places;
}

at::Tensor with_channels(const at::Tensor& weight, std::int64_t channels) {
  const at::NoGradGuard no_grad;
  const std::int64_t had = weight.size(1);
  if (channels == 1) return weight.sum(1, /*keepdim=*/true);
  const std::int64_t times = (channels + had - 1) / had;
  return weight.repeat({1, times, 1, 1}).narrow(1, 0, channels).contiguous() *
         (static_cast<double>(had) / static_cast<double>(channels));
}

}  // namespace stoker

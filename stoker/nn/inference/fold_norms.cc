#include "stoker/nn/inference/fold_norms.h"

#include <map>
#include <optional>
#include <set>
#include <utility>

#include <ATen/ATen.h>

#include "stoker/nn/graph/graph_nodes.h"

namespace stoker {
namespace {

GraphReference add_tensor(InferenceGraph& network, const std::string& name, at::Tensor tensor) {
  ExportedGraph& graph = network.graph;
  const GraphReference value{static_cast<std::uint32_t>(graph.values.size())};
  graph.values.push_back({.name = name});
  graph.inputs.push_back({.kind = GraphInput::Kind::kParameter, .value = value, .name = name});
  network.tensors.push_back(std::move(tensor));
  return value;
}

void give_argument(GraphNode& node, const std::string& name, GraphReference value) {
  if (!set_argument(node, name, value)) node.arguments.push_back({.name = name, .value = value});
}

class NormFolder {
 public:
  explicit NormFolder(InferenceGraph network)
      : network_(std::move(network)), uses_(count_uses(network_.graph)) {}

  InferenceGraph run() {
    std::map<std::uint32_t, std::size_t> convolutions;  // values to nodes
    std::set<std::size_t> folded;
    for (std::size_t i = 0; i < network_.graph.nodes.size(); ++i) {
      const GraphNode& node = network_.graph.nodes[i];
      if (node.target == "aten::conv2d") convolutions[node.outputs[0].values[0].value] = i;
      if (node.target != "aten::batch_norm") continue;
      const auto input = reference_argument(node.arguments, "input");
      const auto found = input ? convolutions.find(input->value) : convolutions.end();
      if (found == convolutions.end() || uses_[input->value] != 1) continue;
      if (fold(found->second, i)) folded.insert(i);
    }
    std::vector<GraphNode> kept;
    for (std::size_t i = 0; i < network_.graph.nodes.size(); ++i) {
      if (!folded.contains(i)) kept.push_back(std::move(network_.graph.nodes[i]));
    }
    network_.graph.nodes = std::move(kept);
    return std::move(network_);
  }

 private:
  [[nodiscard]] at::Tensor tensor(const GraphNode& node, const char* name) const {
    return tensor_argument(network_, node, name);
  }

  bool fold(std::size_t convolution, std::size_t norm) {
    GraphNode& before = network_.graph.nodes[convolution];
    const GraphNode& node = network_.graph.nodes[norm];
    const at::Tensor weight = tensor(before, "weight"), mean = tensor(node, "running_mean"),
                     variance = tensor(node, "running_var");
    const auto epsilon = number_argument(node.arguments, "eps");
    const bool known_bias =
        tensor(before, "bias").defined() || !reference_argument(before.arguments, "bias");
    if (!weight.defined() || !mean.defined() || !variance.defined() || !epsilon || !known_bias) {
      return false;
    }
    const auto wide = [](const at::Tensor& t) { return t.to(at::kDouble); };
    at::Tensor factor = (wide(variance) + *epsilon).rsqrt();
    if (tensor(node, "weight").defined()) factor = factor * wide(tensor(node, "weight"));
    at::Tensor offset = -wide(mean);
    if (tensor(before, "bias").defined()) offset = offset + wide(tensor(before, "bias"));
    offset = offset * factor;
    if (tensor(node, "bias").defined()) offset = offset + wide(tensor(node, "bias"));
    const at::Tensor scaled = wide(weight) * factor.reshape({-1, 1, 1, 1});
    const std::string name = before.module + ".folded";
    const std::vector<GraphOutput> outputs = node.outputs;
    const GraphReference new_weight =
        add_tensor(network_, name + ".weight", scaled.to(weight.scalar_type()));
    const GraphReference new_bias =
        add_tensor(network_, name + ".bias", offset.to(weight.scalar_type()));
    give_argument(before, "weight", new_weight);
    give_argument(before, "bias", new_bias);
    before.outputs = outputs;
    return true;
  }

  InferenceGraph network_;
  std::vector<std::size_t> uses_;
};

}  // namespace

InferenceGraph with_folded_norms(InferenceGraph network) {
  return NormFolder(std::move(network)).run();
}

}  // namespace stoker

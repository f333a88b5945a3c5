#include "stoker/nn/graph/graph_nodes.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace stoker {

const GraphArgument* find_argument(std::span<const GraphNamedArgument> arguments,
                                   std::string_view name) {
  const auto found = std::ranges::find(arguments, name, &GraphNamedArgument::name);
  return found == arguments.end() ? nullptr : &found->value;
}

bool set_argument(GraphNode& node, std::string_view name, GraphArgument value) {
  const auto found = std::ranges::find(node.arguments, name, &GraphNamedArgument::name);
  if (found == node.arguments.end()) return false;
  found->value = std::move(value);
  return true;
}

std::optional<GraphReference> reference_argument(std::span<const GraphNamedArgument> arguments,
                                                 std::string_view name) {
  const GraphArgument* found = find_argument(arguments, name);
  const auto* value = found != nullptr ? std::get_if<GraphReference>(found) : nullptr;
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::optional<double> number_argument(std::span<const GraphNamedArgument> arguments,
                                      std::string_view name) {
  const GraphArgument* found = find_argument(arguments, name);
  if (found == nullptr) return std::nullopt;
  if (const auto* real = std::get_if<double>(found)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(found)) return static_cast<double>(*whole);
  return std::nullopt;
}

bool is_in_place(std::string_view target) {
  return target.substr(0, target.find('.')).ends_with('_');
}

std::vector<std::size_t> last_uses(const ExportedGraph& graph, std::size_t end) {
  std::vector<std::size_t> last(graph.values.size(), end);
  for (std::size_t i = 0; i < end; ++i) {
    for (const GraphOutput& output : graph.nodes[i].outputs) {
      for (const GraphReference& value : output.values) last[value.value] = i;
    }
    visit_references(graph.nodes[i], [&](GraphReference value) { last[value.value] = i; });
  }
  return last;
}

GraphReference images_of(const ExportedGraph& graph) {
  return std::ranges::find(graph.inputs, GraphInput::Kind::kImages, &GraphInput::kind)->value;
}

std::optional<std::size_t> weight_place(const GraphNode& node, const ExportedGraph& graph) {
  const auto weight = reference_argument(node.arguments, "weight");
  if (!weight) return std::nullopt;
  const auto found = std::ranges::find(graph.inputs, *weight, &GraphInput::value);
  if (found == graph.inputs.end()) return std::nullopt;
  return static_cast<std::size_t>(found - graph.inputs.begin());
}

std::vector<std::size_t> first_convolutions(const ExportedGraph& graph) {
  const GraphReference images = images_of(graph);
  std::vector<std::size_t> places;
  for (const GraphNode& node : graph.nodes) {
    if (node.target != "aten::conv2d") continue;
    if (reference_argument(node.arguments, "input") != images) continue;
    if (const auto place = weight_place(node, graph)) places.push_back(*place);
  }
  return places;
}

std::vector<std::size_t> count_uses(const ExportedGraph& graph) {
  std::vector<std::size_t> uses(graph.values.size(), 0);
  for (const GraphNode& node : graph.nodes) {
    visit_references(node, [&](GraphReference value) { ++uses[value.value]; });
  }
  ++uses[graph.output.value];
  return uses;
}

}  // namespace stoker

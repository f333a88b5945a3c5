#include "stoker/nn/graph/graph_layout.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/nn/graph/graph_nodes.h"

namespace stoker {
namespace {

// Modules that hold a network's blocks one after the other; each of those is a stage.
constexpr std::array<std::string_view, 8> kTrunks = {
    "blocks", "stages", "layers", "features", "levels", "encoder", "network", "trunk_output"};

bool makes(const GraphNode& node, GraphReference value) {
  return node.outputs.size() == 1 && !node.outputs[0].is_list &&
         node.outputs[0].values == std::vector{value};
}

// Place of each parameter among the inputs.
std::map<std::uint32_t, std::size_t> parameters_of(const ExportedGraph& graph) {
  std::map<std::uint32_t, std::size_t> places;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    if (graph.inputs[i].kind == GraphInput::Kind::kParameter) {
      places[graph.inputs[i].value.value] = i;
    }
  }
  return places;
}

std::string linear_layers(const ExportedGraph& graph) {
  std::vector<std::string> names;
  for (const GraphNode& node : graph.nodes) {
    if (node.target == "aten::linear" && !node.module.empty()) names.push_back(node.module);
  }
  constexpr std::size_t kShown = 6;  // the last ones: a head is near the end
  if (names.size() > kShown) names.erase(names.begin(), names.end() - kShown);
  return fmt::format("{}", fmt::join(names, ", "));
}

[[noreturn]] void fail_head(const ExportedGraph& graph, const std::string& file,
                            std::string expected, std::string found) {
  const std::string names = linear_layers(graph);
  throw Error({.what = "cannot find the head of the exported network",
               .path = file,
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = names.empty() ? "The network has no linear layer"
                                     : fmt::format("Name it with `head`: {}", names)});
}

// Whether the node is in the module, or its weights have the module's name.
bool is_of(const GraphNode& node, const std::string& module, const ExportedGraph& graph) {
  if (node.module == module) return true;
  const auto weight = reference_argument(node.arguments, "weight");
  return weight && std::ranges::any_of(graph.inputs, [&](const GraphInput& input) {
           return input.value == *weight && input.name == module + ".weight";
         });
}

// nullopt where the graph ends with features.
std::optional<std::size_t> find_head(const ExportedGraph& graph, const std::string& head,
                                     const std::string& file) {
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const GraphNode& node = graph.nodes[i];
    if (head.empty() ? !makes(node, graph.output) : !is_of(node, head, graph)) continue;
    if (node.target == "aten::linear") return i;
    if (head.empty()) return std::nullopt;
  }
  if (head.empty()) return std::nullopt;
  fail_head(graph, file, fmt::format("a linear layer {}", head), "none");
}

// Dropout in front of the head is the head's, so that features can be computed once and kept.
void take_dropout(GraphLayout& layout, const ExportedGraph& graph) {
  if (layout.body_end == 0) return;
  const GraphNode& last = graph.nodes[layout.body_end - 1];
  if (last.target != "aten::dropout" || !makes(last, layout.features)) return;
  const auto input = reference_argument(last.arguments, "input");
  const auto probability = number_argument(last.arguments, "p");
  if (!input || !probability) return;
  layout.dropout = *probability;
  layout.features = *input;
  --layout.body_end;
}

void set_head(GraphLayout& layout, const ExportedGraph& graph, const std::string& head,
              const std::string& file) {
  const auto number = find_head(graph, head, file);
  if (!number) {
    layout.head_name = "head";
    layout.features = graph.output;
    layout.body_end = graph.nodes.size();
    return;
  }
  const GraphNode& node = graph.nodes[*number];
  const auto parameters = parameters_of(graph);
  const auto place = [&](const char* name) {
    const auto value = reference_argument(node.arguments, name);
    const auto found = value ? parameters.find(value->value) : parameters.end();
    if (found == parameters.end()) {
      fail_head(graph, file, fmt::format("a parameter as {} of the head", name), "none");
    }
    return found->second;
  };
  layout.head = {.weight = place("weight"), .bias = place("bias")};
  layout.head_name = node.module.empty() ? "head" : node.module;
  const std::string& weight = graph.inputs[layout.head->weight].name;
  if (weight.ends_with(".weight")) layout.head_name = weight.substr(0, weight.size() - 7);
  const auto features = reference_argument(node.arguments, "input");
  if (!features) fail_head(graph, file, "a linear layer of a tensor", "of none");
  layout.features = *features;
  layout.body_end = *number;
}

}  // namespace

std::string stage_name(const std::string& name) {
  std::size_t end = name.find('.');
  if (end == std::string::npos) return {};
  std::string stage = name.substr(0, end);
  // "encoder.layers.encoder_layer_0" has two such names.
  while (std::ranges::find(kTrunks, stage.substr(stage.rfind('.') + 1)) != kTrunks.end()) {
    const std::size_t next = name.find('.', end + 1);
    if (next == std::string::npos) break;
    end = next;
    stage = name.substr(0, end);
  }
  return stage;
}

GraphLayout lay_out(const ExportedGraph& graph, const std::string& head, const std::string& file) {
  GraphLayout layout;
  set_head(layout, graph, head, file);
  take_dropout(layout, graph);
  std::map<std::uint32_t, std::size_t> tensors;  // values to places among the inputs
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const bool of_head = layout.head && (i == layout.head->weight || i == layout.head->bias);
    if (graph.inputs[i].kind != GraphInput::Kind::kImages && !of_head) {
      tensors[graph.inputs[i].value.value] = i;
    }
  }
  std::map<std::string, std::size_t> numbers;
  std::set<std::size_t> placed;
  std::size_t current = 0;
  const auto enter = [&](const std::string& name) {
    if (name.empty() && !layout.stages.empty()) return;  // of the network itself: where it is used
    const std::string& known = name.empty() ? "stem" : name;
    const auto [found, added] = numbers.emplace(known, layout.stages.size());
    if (added) layout.stages.push_back({known, {}});
    current = std::max(current, found->second);
  };
  layout.node_stages.resize(graph.nodes.size(), 0);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    visit_references(node, [&](GraphReference value) {
      const auto tensor = tensors.find(value.value);
      if (tensor == tensors.end() || i >= layout.body_end) return;
      if (!placed.insert(tensor->second).second) return;
      const std::string name = stage_name(graph.inputs[tensor->second].name);
      enter(name);
      const auto known = numbers.find(name);
      layout.stages[known == numbers.end() ? current : known->second].inputs.push_back(
          tensor->second);
    });
    layout.node_stages[i] = current;
  }
  if (!layout.head && numbers.contains(layout.head_name)) layout.head_name = "new_head";
  if (layout.stages.empty()) {
    throw Error({.what = "the exported network cannot be trained",
                 .path = file,
                 .expected = "weights in front of the head",
                 .found = "none"});
  }
  return layout;
}

}  // namespace stoker

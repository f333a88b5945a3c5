// What a node of an exported graph is called with, and where values are last used.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "stoker/io/exported_program.h"

namespace stoker {

// nullptr where there is none of that name.
[[nodiscard]] const GraphArgument* find_argument(std::span<const GraphNamedArgument> arguments,
                                                 std::string_view name);
// nullopt where there is none of that name, or it is of another kind.
[[nodiscard]] std::optional<GraphReference> reference_argument(
    std::span<const GraphNamedArgument> arguments, std::string_view name);
// An integer too.
[[nodiscard]] std::optional<double> number_argument(std::span<const GraphNamedArgument> arguments,
                                                    std::string_view name);

// Whether there is one of that name to replace.
bool set_argument(GraphNode& node, std::string_view name, GraphArgument value);

// Calls `visit` with each, also those in lists; one that is used twice comes twice. Of a node that
// is not const, `visit` may change them.
template <typename Node, typename Visit>
void visit_references(Node& node, const Visit& visit) {
  for (auto& argument : node.arguments) {
    if (auto* one = std::get_if<GraphReference>(&argument.value)) visit(*one);
    if (auto* sizes = std::get_if<std::vector<GraphSize>>(&argument.value)) {
      for (auto& size : *sizes) {
        if (auto* value = std::get_if<GraphReference>(&size)) visit(*value);
      }
    }
    using Tensors = std::vector<std::optional<GraphReference>>;
    if (auto* tensors = std::get_if<Tensors>(&argument.value)) {
      for (auto& one : *tensors) {
        if (one) visit(*one);
      }
    }
  }
}

// Whether `holds` is true of a value that the node makes.
template <typename Predicate>
[[nodiscard]] bool any_output(const GraphNode& node, const Predicate& holds) {
  for (const GraphOutput& output : node.outputs) {
    for (const GraphReference value : output.values) {
      if (holds(value)) return true;
    }
  }
  return false;
}

// "aten::add_.Tensor" and "aten::relu_", not "aten::add.Tensor".
[[nodiscard]] bool is_in_place(std::string_view target);

// For each value the last of the first `end` nodes that makes or uses it; `end` where none does.
[[nodiscard]] std::vector<std::size_t> last_uses(const ExportedGraph& graph, std::size_t end);

// How many times the nodes, and the graph's output, use each value.
[[nodiscard]] std::vector<std::size_t> count_uses(const ExportedGraph& graph);

// The value of the only input that is images.
[[nodiscard]] GraphReference images_of(const ExportedGraph& graph);

// Where among the inputs a node has its weights; nullopt where they are computed.
[[nodiscard]] std::optional<std::size_t> weight_place(const GraphNode& node,
                                                      const ExportedGraph& graph);

// Places of the weights of all convolutions of images, among the graph's inputs.
[[nodiscard]] std::vector<std::size_t> first_convolutions(const ExportedGraph& graph);

}  // namespace stoker

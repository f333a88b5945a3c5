#include "stoker/nn/graph/graph_nodes.h"

#include <algorithm>
#include <cstdint>

namespace stoker {

const GraphArgument* find_argument(std::span<const GraphNamedArgument> arguments,
                                   std::string_view name) {
  const auto found = std::ranges::find(arguments, name, &GraphNamedArgument::name);
  return found == arguments.end() ? nullptr : &found->value;
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

}  // namespace stoker

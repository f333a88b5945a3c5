// The values that a node of an exported graph uses.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "stoker/io/exported_program.h"

namespace stoker {

// Calls `visit` with each, also those in lists; one that is used twice comes twice.
template <typename Visit>
void visit_references(const GraphNode& node, const Visit& visit) {
  for (const GraphNamedArgument& argument : node.arguments) {
    if (const auto* one = std::get_if<GraphReference>(&argument.value)) visit(*one);
    if (const auto* sizes = std::get_if<std::vector<GraphSize>>(&argument.value)) {
      for (const GraphSize& size : *sizes) {
        if (const auto* value = std::get_if<GraphReference>(&size)) visit(*value);
      }
    }
    using Tensors = std::vector<std::optional<GraphReference>>;
    if (const auto* tensors = std::get_if<Tensors>(&argument.value)) {
      for (const auto& one : *tensors) {
        if (one) visit(*one);
      }
    }
  }
}

}  // namespace stoker

// What an exported graph is made of, as training sees it: stages from the names of its modules, and
// the linear layer that is its head.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "stoker/io/exported_program.h"

namespace stoker {

struct GraphLayout {
  struct Stage {
    std::string name;                 // "layer1", "blocks.3"
    std::vector<std::size_t> inputs;  // places in ExportedGraph::inputs
  };
  std::vector<Stage> stages;             // in the order of execution, without the head
  std::vector<std::size_t> node_stages;  // of each node
  std::string head_name;                 // of the linear layer: "head.fc"
  // Places in ExportedGraph::inputs; none where the graph ends with features and has no head.
  struct HeadInputs {
    std::size_t weight = 0, bias = 0;
  };
  std::optional<HeadInputs> head = {};
  std::size_t body_end = 0;  // nodes before this one make the features
  GraphReference features;   // what the head sees
  double dropout = 0;        // of the features, in training
};

// `head` names the module of the head; empty: the linear layer that gives the output or, where
// another operator does, none: what it gives are features. Throws Error, with the linear layers
// that there are, where it cannot be that.
[[nodiscard]] GraphLayout lay_out(const ExportedGraph& graph, const std::string& head,
                                  const std::string& file);

// The stage that a module or tensor of this name belongs to: "layer1" of "layer1.0.conv1.weight",
// "blocks.3" of "blocks.3.attn". Empty for a tensor of the network itself, such as "pos_embed".
[[nodiscard]] std::string stage_name(const std::string& name);

}  // namespace stoker

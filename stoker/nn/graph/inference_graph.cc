#include "stoker/nn/graph/inference_graph.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"
#include "stoker/nn/graph/graph_builder.h"
#include "stoker/nn/graph/graph_nodes.h"
#include "stoker/nn/model_file.h"

namespace stoker {
namespace {

GraphReference only_output(const GraphNode& node) {
  if (node.outputs.size() == 1 && node.outputs[0].values.size() == 1) {
    return node.outputs[0].values[0];
  }
  throw Error({.what = "cannot export the network",
               .expected = fmt::format("one result of {}", node.target),
               .found = "another number"});
}

// "aten::add_.Tensor" to "aten::add.Tensor"; others stay.
std::string not_in_place(const std::string& target) {
  if (!is_in_place(target)) return target;
  const std::size_t end = std::min(target.find('.'), target.size());
  return target.substr(0, end - 1) + target.substr(end);
}

// Operators whose result is the memory of what they are given.
bool is_view(const std::string& target) {
  static const std::set<std::string, std::less<>> kViews = {"aten::alias",
                                                            "aten::chunk",
                                                            "aten::detach",
                                                            "aten::expand",
                                                            "aten::expand_as",
                                                            "aten::narrow",
                                                            "aten::permute",
                                                            "aten::select.int",
                                                            "aten::slice.Tensor",
                                                            "aten::split.Tensor",
                                                            "aten::squeeze.dim",
                                                            "aten::squeeze.dims",
                                                            "aten::t",
                                                            "aten::transpose.int",
                                                            "aten::unbind.int",
                                                            "aten::unsqueeze",
                                                            "aten::view",
                                                            "aten::reshape",
                                                            "aten::flatten.using_ints",
                                                            "aten::unflatten.int",
                                                            "aten::split_with_sizes"};
  return kViews.contains(target);
}

// Goes through the nodes in their order and writes those of use.
class TrainingRemover {
 public:
  explicit TrainingRemover(const ExportedGraph& graph) : graph_(graph), result_(graph) {
    result_.nodes.clear();
    result_.text.clear();
    for (const GraphInput& input : graph.inputs) {
      if (input.kind == GraphInput::Kind::kBuffer) buffers_.insert(input.value.value);
    }
    last_uses_ = last_uses(graph, graph.nodes.size());
  }

  ExportedGraph run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) add(graph_.nodes[i], i);
    result_.output = now(graph_.output);
    remove_unused();
    return std::move(result_);
  }

 private:
  [[nodiscard]] GraphReference now(GraphReference value) const {
    const auto found = current_.find(value.value);
    return found == current_.end() ? value : found->second;
  }
  [[nodiscard]] bool is_mask(std::optional<GraphReference> value) const {
    return value && masks_.contains(value->value);
  }

  void add(GraphNode node, std::size_t number) {
    const auto self = reference_argument(node.arguments, "self");
    const auto other = reference_argument(node.arguments, "other");
    if (node.target.starts_with("aten::_assert")) return;
    const std::string target = not_in_place(node.target);
    if (node.target == "aten::bernoulli_.float" ||
        (target == "aten::div.Tensor" && is_mask(self))) {
      masks_.insert(only_output(node).value);
      return;
    }
    if (is_mask(self) || is_mask(other)) {  // the product that stochastic depth is
      current_[only_output(node).value] = now(is_mask(self) ? *other : *self);
      return;
    }
    if (target == "aten::dropout") {
      const auto input = reference_argument(node.arguments, self ? "self" : "input");
      STOKER_INVARIANT(input.has_value(), "dropout of nothing");
      current_[only_output(node).value] = now(*input);
      return;
    }
    const bool in_place = target != node.target;
    if (in_place && self && buffers_.contains(self->value)) return;
    visit_references(node, [&](GraphReference& value) { value = now(value); });
    if (target == "aten::batch_norm") set_argument(node, "training", false);
    if (target == "aten::scaled_dot_product_attention") set_argument(node, "dropout_p", 0.0);
    if (in_place && self) {
      check_alone(*self, number, node);
      node.target = target;
      current_[self->value] = only_output(node);
    }
    if (is_view(target) && self) {
      for (const GraphOutput& output : node.outputs) {
        for (const GraphReference& value : output.values) bases_[value.value] = self->value;
      }
    }
    result_.nodes.push_back(std::move(node));
  }

  // What is changed in place must not be seen through another name later.
  void check_alone(GraphReference value, std::size_t number, const GraphNode& node) const {
    for (auto base = bases_.find(value.value); base != bases_.end();
         base = bases_.find(base->second)) {
      if (last_uses_[base->second] <= number) continue;
      throw Error({.what = "cannot export the network",
                   .expected = "operators that leave what is used later as it is",
                   .found = fmt::format("{} in {}", node.target, node.module)});
    }
  }

  void remove_unused() {
    std::set<std::uint32_t> used = {result_.output.value};
    std::vector<GraphNode> kept;
    for (std::size_t i = result_.nodes.size(); i-- > 0;) {
      GraphNode& node = result_.nodes[i];
      const bool counts =
          any_output(node, [&](GraphReference value) { return used.contains(value.value); });
      if (!counts) continue;
      visit_references(node, [&](GraphReference value) { used.insert(value.value); });
      kept.push_back(std::move(node));
    }
    std::ranges::reverse(kept);
    result_.nodes = std::move(kept);
    std::erase_if(result_.inputs, [&](const GraphInput& input) {
      return input.kind != GraphInput::Kind::kImages && !used.contains(input.value.value);
    });
  }

  const ExportedGraph& graph_;
  ExportedGraph result_;
  std::map<std::uint32_t, GraphReference> current_;  // what a value is called now
  std::map<std::uint32_t, std::uint32_t> bases_;     // whose memory it shares
  std::set<std::uint32_t> masks_, buffers_;
  std::vector<std::size_t> last_uses_;
};

// What predict shows, from the network's outputs. A classifier's stay logits, since readers apply
// their own softmax.
GraphReference append_prediction(GraphBuilder& graph, GraphReference outputs, Task task) {
  if (task == Task::kClassify) return outputs;
  if (task == Task::kMultilabel) return graph.activation("aten::sigmoid", outputs);
  const GraphReference scaled = graph.multiply(outputs, graph.buffer("target_std", {}));
  return graph.add(scaled, graph.buffer("target_mean", {}));
}

}  // namespace

ExportedGraph without_training(const ExportedGraph& graph) { return TrainingRemover(graph).run(); }

at::Tensor tensor_argument(const InferenceGraph& network, const GraphNode& node,
                           std::string_view name) {
  const auto value = reference_argument(node.arguments, name);
  if (!value) return {};
  const auto found = std::ranges::find(network.graph.inputs, *value, &GraphInput::value);
  if (found == network.graph.inputs.end()) return {};
  return network.tensors[static_cast<std::size_t>(found - network.graph.inputs.begin())];
}

InferenceGraph inference_graph(const Model& model, const ModelCard& card) {
  GraphBuilder builder;
  const GraphReference outputs = model.append_nodes(builder, builder.images());
  const BuiltGraph built = builder.finish(append_prediction(builder, outputs, card.task));
  InferenceGraph result{.graph = without_training(built.graph), .tensors = {}};
  std::map<std::string, at::Tensor> by_name;
  for (const NamedTensor& named : all_tensors(model)) {
    by_name[named.name] = named.tensor.detach().cpu();
  }
  const auto row = [](const std::vector<double>& values) { return at::tensor(values, at::kFloat); };
  if (card.task == Task::kRegress) {
    by_name["target_std"] = row(card.target_std);
    by_name["target_mean"] = row(card.target_mean);
  }
  for (const GraphInput& input : result.graph.inputs) {
    const bool images = input.kind == GraphInput::Kind::kImages;
    STOKER_INVARIANT(images || by_name.contains(input.name), "{} has no values", input.name);
    result.tensors.push_back(images ? at::Tensor() : by_name[input.name]);
  }
  return result;
}

}  // namespace stoker

#include "stoker/nn/inference/fuse_layers.h"

#include <algorithm>
#include <utility>

#include "stoker/nn/graph/graph_nodes.h"

namespace stoker {
namespace {

// An activation as oneDNN has it.
struct Activation {
  std::string name;
  std::vector<double> numbers = {};
  std::string algorithm = {};
};

std::optional<Activation> activation_of(const GraphNode& node) {
  const std::string& target = node.target;
  if (target == "aten::relu") return Activation{"relu"};
  if (target == "aten::silu") return Activation{"swish"};
  if (target == "aten::hardswish") return Activation{"hardswish"};
  if (target == "aten::hardsigmoid") return Activation{"hardsigmoid"};
  if (target == "aten::sigmoid") return Activation{"sigmoid"};
  if (target == "aten::tanh") return Activation{"tanh"};
  if (target == "aten::relu6") return Activation{"hardtanh", {0, 6}};
  if (target == "aten::gelu") {
    const GraphArgument* form = find_argument(node.arguments, "approximate");
    const auto* text = form != nullptr ? std::get_if<std::string>(form) : nullptr;
    return Activation{"gelu", {}, text != nullptr ? *text : "none"};
  }
  if (target == "aten::hardtanh") {
    return Activation{"hardtanh",
                      {number_argument(node.arguments, "min_val").value_or(-1),
                       number_argument(node.arguments, "max_val").value_or(1)}};
  }
  return std::nullopt;
}

bool same_sizes(const TracedValue& a, const TracedValue& b) {
  return std::ranges::equal(a.sizes, b.sizes, [](const TracedSize& x, const TracedSize& y) {
    return x.fixed == y.fixed && x.per_sample == y.per_sample;
  });
}

class LayerFuser {
 public:
  LayerFuser(InferenceGraph network, const std::vector<TracedValue>& values, FusesActivation fuses)
      : fused_{.network = std::move(network), .layers = {}},
        values_(values),
        fuses_(fuses),
        uses_(count_uses(graph())),
        user_(graph().values.size(), kNone),
        maker_(graph().values.size(), kNone),
        gone_(graph().nodes.size(), false) {
    for (std::size_t i = 0; i < graph().nodes.size(); ++i) {
      visit_references(graph().nodes[i], [&](GraphReference value) { user_[value.value] = i; });
      for (const GraphOutput& output : graph().nodes[i].outputs) {
        for (const GraphReference value : output.values) maker_[value.value] = i;
      }
    }
  }

  FusedGraph run() {
    std::map<std::size_t, FusedLayer> by_last;  // by the node whose place they take
    for (std::size_t i = 0; i < graph().nodes.size(); ++i) {
      if (!gone_[i] && is_layer(graph().nodes[i])) fuse(i, by_last);
    }
    std::vector<GraphNode> nodes;
    for (std::size_t i = 0; i < graph().nodes.size(); ++i) {
      const auto layer = by_last.find(i);
      if (layer != by_last.end()) {
        fused_.layers.emplace(nodes.size(), std::move(layer->second));
      } else if (gone_[i]) {
        continue;
      }
      nodes.push_back(std::move(graph().nodes[i]));
    }
    graph().nodes = std::move(nodes);
    return std::move(fused_);
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  [[nodiscard]] ExportedGraph& graph() { return fused_.network.graph; }
  [[nodiscard]] GraphReference result_of(std::size_t node) {
    return graph().nodes[node].outputs[0].values[0];
  }
  [[nodiscard]] bool is_layer(const GraphNode& node) const {
    return stoker::is_layer(fused_.network, values_, node);
  }

  // The only node that uses what this one makes; kNone where there are several.
  [[nodiscard]] std::size_t only_user(std::size_t node) {
    const GraphReference made = result_of(node);
    if (uses_[made.value] != 1 || made == graph().output) return kNone;
    return user_[made.value];
  }

  void fuse(std::size_t first, std::map<std::size_t, FusedLayer>& by_last) {
    FusedLayer fused{.layer = graph().nodes[first]};
    std::size_t last = first;
    const bool may_add = fuses_ == nullptr || fused.layer.target == "aten::conv2d";
    const std::size_t sum = may_add ? only_user(first) : kNone;
    if (sum != kNone && add_branch(fused, first, sum)) last = sum;
    // A product with a branch has no activation in LibTorch.
    const bool may_activate = !fused.added || fused.layer.target == "aten::conv2d";
    const std::size_t next = may_activate ? only_user(last) : kNone;
    if (next != kNone) {
      auto activation = activation_of(graph().nodes[next]);
      const bool fits = activation && (!fused.added || activation->name == "relu") &&
                        (fuses_ == nullptr || fuses_(fused.layer, activation->name));
      if (fits) {
        fused.activation = activation->name;
        fused.numbers = activation->numbers;
        fused.algorithm = activation->algorithm;
        gone_[last] = true;
        last = next;
      }
    }
    if (last != first) gone_[first] = true;
    std::vector<GraphNamedArgument> arguments = {
        {"input", *reference_argument(fused.layer.arguments, "input")}};
    if (fused.added) arguments.push_back({"added", *fused.added});
    GraphNode& node = graph().nodes[last];
    node = {.target = kFusedTarget,
            .arguments = std::move(arguments),
            .outputs = node.outputs,
            .module = fused.layer.module};
    by_last.emplace(last, std::move(fused));
  }

  // Whether `sum` adds something to what the layer `first` makes that a layer can add.
  bool add_branch(FusedLayer& fused, std::size_t first, std::size_t sum) {
    const GraphNode& node = graph().nodes[sum];
    if (node.target != "aten::add.Tensor") return false;
    if (number_argument(node.arguments, "alpha").value_or(1) != 1) return false;
    const auto self = reference_argument(node.arguments, "self"),
               other = reference_argument(node.arguments, "other");
    if (!self || !other) return false;
    const GraphReference added = *self == result_of(first) ? *other : *self;
    const TracedValue &result = values_[result_of(first).value], &branch = values_[added.value];
    if (added == result_of(first) || !branch.depends_on_images || !same_sizes(result, branch)) {
      return false;
    }
    // What another layer made later than this one: that one takes the sum.
    const std::size_t maker = maker_[added.value];
    const bool later = maker != kNone && maker > first && is_layer(graph().nodes[maker]) &&
                       uses_[added.value] == 1;
    if (later) return false;
    fused.added = added;
    fused.writes_added = fused.layer.target == "aten::conv2d" && is_own(added, first, sum);
    return true;
  }

  // Whether memory of a value may be written at `sum`: a layer made it, nobody uses it later, and
  // it is not what the layer reads.
  [[nodiscard]] bool is_own(GraphReference value, std::size_t first, std::size_t sum) {
    const std::size_t maker = maker_[value.value];
    if (maker == kNone || graph().nodes[maker].target != kFusedTarget) return false;
    const GraphReference input = *reference_argument(graph().nodes[first].arguments, "input");
    if (input == value) return false;
    // Its other uses are layers and additions, whose results have memory of their own.
    for (std::size_t i = 0; i < graph().nodes.size(); ++i) {
      if (gone_[i]) continue;
      bool used = false;
      visit_references(graph().nodes[i], [&](GraphReference one) { used = used || one == value; });
      if (!used || i == sum) continue;
      const GraphNode& user = graph().nodes[i];
      const bool reads = i < first && (user.target == kFusedTarget || is_layer(user));
      const bool writes = reads && fused_writes(i, value);
      if (!reads || writes) return false;
    }
    return value != graph().output;
  }

  [[nodiscard]] bool fused_writes(std::size_t node, GraphReference value) {
    return reference_argument(graph().nodes[node].arguments, "added") == value;
  }

  FusedGraph fused_;
  const std::vector<TracedValue>& values_;
  FusesActivation fuses_;
  std::vector<std::size_t> uses_;
  std::vector<std::size_t> user_, maker_;  // the last user, and the maker, of each value
  std::vector<bool> gone_;
};

}  // namespace

bool is_layer(const InferenceGraph& network, const std::vector<TracedValue>& values,
              const GraphNode& node) {
  if (node.target != "aten::conv2d" && node.target != "aten::linear") return false;
  const auto is_known = [&](const char* name) {
    return tensor_argument(network, node, name).defined();
  };
  const auto input = reference_argument(node.arguments, "input");
  const bool known_bias =
      is_known("bias") || !reference_argument(node.arguments, "bias").has_value();
  return input && known_bias && is_known("weight") && values[input->value].depends_on_images;
}

FusedGraph fuse_layers(InferenceGraph network, const std::vector<TracedValue>& values,
                       FusesActivation fuses) {
  return LayerFuser(std::move(network), values, fuses).run();
}

}  // namespace stoker

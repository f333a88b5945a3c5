#include "stoker/nn/int8/quantised_graph.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/nn/graph/graph_nodes.h"
#include "stoker/nn/inference/fuse_layers.h"

namespace stoker {
namespace {

constexpr double kSteps = 255;       // of a value
constexpr double kWeightSteps = 64;  // to either side of 0

// Activations that are nothing but limits: rounding to a range that ends there does the same.
bool is_limit(const GraphNode& node) {
  static const std::set<std::string, std::less<>> kLimits = {"aten::relu", "aten::relu6",
                                                             "aten::hardtanh"};
  return kLimits.contains(node.target);
}

class RoundedValues {
 public:
  RoundedValues(const InferenceGraph& network, const std::vector<TracedValue>& values)
      : network_(network),
        values_(values),
        uses_(count_uses(network.graph)),
        user_(network.graph.values.size(), nullptr) {
    for (const GraphNode& node : network.graph.nodes) {
      visit_references(node, [&](GraphReference value) { user_[value.value] = &node; });
    }
  }

  std::map<std::uint32_t, std::uint32_t> run() {
    for (const GraphNode& node : network_.graph.nodes) {
      if (is_layer(network_, values_, node)) {
        add(*reference_argument(node.arguments, "input"));
        if (node.target == "aten::conv2d") add_result(node);
      } else if (is_sum(node)) {
        add_result(node);
      } else if (node.target == "aten::max_pool2d") {
        const auto input = reference_argument(node.arguments, "self");
        if (input && found_.contains(input->value)) add(result_of(node), found_[input->value]);
      }
    }
    return std::move(found_);
  }

 private:
  static GraphReference result_of(const GraphNode& node) { return node.outputs[0].values[0]; }

  void add(GraphReference value) { add(value, value.value); }
  void add(GraphReference value, std::uint32_t range) {
    const TracedValue& known = values_[value.value];
    const bool fits = known.is_tensor && known.depends_on_images && known.type == at::kFloat;
    if (fits && value != network_.graph.output) found_.emplace(value.value, range);
  }

  // Of the activation behind it where that is a limit and all that reads it.
  void add_result(const GraphNode& node) {
    const GraphReference made = result_of(node);
    const GraphNode* next = uses_[made.value] == 1 ? user_[made.value] : nullptr;
    add(next != nullptr && is_limit(*next) ? result_of(*next) : made);
  }

  // Of two rounded values.
  [[nodiscard]] bool is_sum(const GraphNode& node) const {
    if (node.target != "aten::add.Tensor") return false;
    const auto self = reference_argument(node.arguments, "self"),
               other = reference_argument(node.arguments, "other");
    return self && other && found_.contains(self->value) && found_.contains(other->value);
  }

  const InferenceGraph& network_;
  const std::vector<TracedValue>& values_;
  std::vector<std::size_t> uses_;
  std::vector<const GraphNode*> user_;  // the last
  std::map<std::uint32_t, std::uint32_t> found_;
};

QuantisedValue quantised_range(const ValueRange& range) {
  const double width = range.most - range.least;
  if (width <= 0) return {};
  const double scale = width / kSteps;
  return {.scale = static_cast<float>(scale),
          .zero_point = std::clamp(std::llround(-range.least / scale), 0LL, 255LL)};
}

}  // namespace

std::map<std::uint32_t, std::uint32_t> rounded_values(const InferenceGraph& network,
                                                      const std::vector<TracedValue>& values) {
  return RoundedValues(network, values).run();
}

QuantisedValues quantised_values(const InferenceGraph& network,
                                 const std::vector<TracedValue>& values,
                                 const Calibration& calibration) {
  QuantisedValues quantised;
  for (const auto& [value, range_of] : rounded_values(network, values)) {
    const std::string& name = network.graph.values[range_of].name;
    const auto found = calibration.ranges.find(name);
    if (found == calibration.ranges.end()) {
      throw Error({.what = "the model's calibration is that of another network",
                   .expected = fmt::format("a range of {}", name),
                   .found = "none",
                   .hint = "`stoker calibrate` measures it anew"});
    }
    quantised.emplace(value, quantised_range(found->second));
  }
  return quantised;
}

QuantisedWeight quantised_weight(const at::Tensor& weight) {
  const at::Tensor rows = weight.reshape({weight.size(0), -1}).to(at::kDouble);
  const at::Tensor most = rows.abs().amax(1);
  const at::Tensor scales =
      at::where(most > 0, most / kWeightSteps, at::ones_like(most)).to(at::kFloat);
  const at::Tensor steps = (rows / scales.to(at::kDouble).unsqueeze(1)).round();
  return {.values = steps.clamp(-kWeightSteps, kWeightSteps).to(at::kChar).reshape(weight.sizes()),
          .scales = scales};
}

}  // namespace stoker

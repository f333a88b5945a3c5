#include "stoker/nn/inference/layer_call.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>

#include "stoker/nn/graph/graph_nodes.h"

namespace stoker {

std::vector<std::int64_t> pair_argument(const GraphNode& node, const char* name,
                                        const std::vector<std::int64_t>& otherwise) {
  const GraphArgument* found = find_argument(node.arguments, name);
  const auto* list = found != nullptr ? std::get_if<std::vector<std::int64_t>>(found) : nullptr;
  if (list == nullptr || list->empty()) return otherwise;
  return list->size() == 1 ? std::vector<std::int64_t>(2, list->front()) : *list;
}

bool has_operators(std::span<const LayerOperator> operators) {
  if (!at::globalContext().userEnabledMkldnn() || !at::hasMKLDNN()) return false;
  for (const auto& [name, overload] : operators) {
    if (!c10::Dispatcher::singleton().findSchema({name, overload})) return false;
  }
  return true;
}

LayerCall::LayerCall(const char* name, const char* overload, std::vector<c10::IValue> arguments)
    : operator_(c10::Dispatcher::singleton().findSchemaOrThrow(name, overload)),
      arguments_(std::move(arguments)) {}

at::Tensor LayerCall::operator()(
    std::initializer_list<std::pair<std::size_t, c10::IValue>> variable) const {
  std::vector<c10::IValue> stack = arguments_;
  for (const auto& [place, value] : variable) stack[place] = value;
  operator_.callBoxed(&stack);
  return std::move(stack.front()).toTensor();
}

ConvolutionNumbers convolution_numbers(const GraphNode& node) {
  return {
      .padding = pair_argument(node, "padding", {0, 0}),
      .stride = pair_argument(node, "stride", {1, 1}),
      .dilation = pair_argument(node, "dilation", {1, 1}),
      .groups = static_cast<std::int64_t>(number_argument(node.arguments, "groups").value_or(1))};
}

c10::IValue activation_numbers(const FusedLayer& fused) {
  c10::List<std::optional<at::Scalar>> list;
  for (const double number : fused.numbers) list.push_back(at::Scalar(number));
  return list;
}

c10::IValue own_bias(const at::Tensor& bias) {
  return bias.defined() ? c10::IValue(bias.clone()) : c10::IValue();
}

}  // namespace stoker

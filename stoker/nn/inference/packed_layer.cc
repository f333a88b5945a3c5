#include "stoker/nn/inference/packed_layer.h"

#include <array>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include "stoker/core/invariant.h"
#include "stoker/nn/graph/graph_nodes.h"

namespace stoker {
namespace {

using c10::IValue;
using Integers = std::vector<std::int64_t>;

constexpr std::array<std::array<const char*, 2>, 7> kOperators = {{
    {"mkldnn::_reorder_convolution_weight", ""},
    {"mkldnn::_convolution_pointwise", ""},
    {"mkldnn::_convolution_pointwise", "binary"},
    {"mkldnn::_convolution_pointwise_", "binary"},
    {"mkldnn::_reorder_linear_weight", ""},
    {"mkldnn::_linear_pointwise", ""},
    {"mkldnn::_linear_pointwise", "binary"},
}};

// A call whose arguments are constant but for the layer's input and what is added.
class PreparedCall {
 public:
  PreparedCall(const char* name, const char* overload, std::vector<IValue> arguments)
      : operator_(c10::Dispatcher::singleton().findSchemaOrThrow(name, overload)),
        arguments_(std::move(arguments)) {}

  // Arguments of these places differ from call to call.
  at::Tensor operator()(std::initializer_list<std::pair<std::size_t, IValue>> variable) const {
    std::vector<IValue> stack = arguments_;
    for (const auto& [place, value] : variable) stack[place] = value;
    operator_.callBoxed(&stack);
    return std::move(stack.front()).toTensor();
  }

 private:
  c10::OperatorHandle operator_;
  std::vector<IValue> arguments_;
};

IValue numbers_of(const FusedLayer& fused) {
  c10::List<std::optional<at::Scalar>> list;
  for (const double number : fused.numbers) list.push_back(at::Scalar(number));
  return list;
}

// Not the model's own memory, which may change.
IValue own_bias(const at::Tensor& bias) { return bias.defined() ? IValue(bias.clone()) : IValue(); }

// One number stands for both dimensions.
Integers pair_of(const GraphNode& node, const char* name, std::int64_t otherwise) {
  const GraphArgument* found = find_argument(node.arguments, name);
  const auto* list = found != nullptr ? std::get_if<Integers>(found) : nullptr;
  if (list == nullptr || list->empty()) return {otherwise, otherwise};
  return list->size() == 1 ? Integers{list->front(), list->front()} : *list;
}

GraphKernel packed_convolution(const FusedLayer& fused, const at::Tensor& weight,
                               const at::Tensor& bias, const Integers& sizes) {
  const GraphNode& node = fused.layer;
  const Integers padding = pair_of(node, "padding", 0), stride = pair_of(node, "stride", 1),
                 dilation = pair_of(node, "dilation", 1);
  const auto groups =
      static_cast<std::int64_t>(number_argument(node.arguments, "groups").value_or(1));
  const at::Tensor packed = PreparedCall("mkldnn::_reorder_convolution_weight", "",
                                         {weight.contiguous(at::MemoryFormat::ChannelsLast),
                                          padding, stride, dilation, groups, sizes})({});
  const GraphReference input = *reference_argument(node.arguments, "input");
  if (!fused.added) {
    PreparedCall call("mkldnn::_convolution_pointwise", "",
                      {IValue(), packed, own_bias(bias), padding, stride, dilation, groups,
                       fused.activation, numbers_of(fused), fused.algorithm});
    return [call = std::move(call), input](const GraphValues& values) {
      return call({{0, values[input.value]}});
    };
  }
  const IValue activation = fused.activation == "none" ? IValue() : IValue(fused.activation);
  PreparedCall call(
      fused.writes_added ? "mkldnn::_convolution_pointwise_" : "mkldnn::_convolution_pointwise",
      "binary",
      {IValue(), IValue(), packed, own_bias(bias), padding, stride, dilation, groups, "add", 1.0,
       activation, numbers_of(fused), IValue()});
  const std::size_t added_place = fused.writes_added ? 0 : 1;
  return [call = std::move(call), input, added = *fused.added,
          added_place](const GraphValues& values) {
    return call({{1 - added_place, values[input.value]}, {added_place, values[added.value]}});
  };
}

GraphKernel packed_product(const FusedLayer& fused, const at::Tensor& weight,
                           const at::Tensor& bias, const Integers& sizes) {
  const std::int64_t rows =
      std::accumulate(sizes.begin(), sizes.end() - 1, std::int64_t{1}, std::multiplies<>());
  const at::Tensor packed =
      PreparedCall("mkldnn::_reorder_linear_weight", "", {weight.contiguous(), rows})({});
  const GraphReference input = *reference_argument(fused.layer.arguments, "input");
  if (!fused.added) {
    PreparedCall call(
        "mkldnn::_linear_pointwise", "",
        {IValue(), packed, own_bias(bias), fused.activation, numbers_of(fused), fused.algorithm});
    return [call = std::move(call), input](const GraphValues& values) {
      return call({{0, values[input.value]}});
    };
  }
  PreparedCall call("mkldnn::_linear_pointwise", "binary",
                    {IValue(), IValue(), packed, own_bias(bias), "add"});
  return [call = std::move(call), input, added = *fused.added](const GraphValues& values) {
    return call({{0, values[input.value]}, {1, values[added.value]}});
  };
}

}  // namespace

bool has_packed_layers() {
  if (!at::globalContext().userEnabledMkldnn() || !at::hasMKLDNN()) return false;
  for (const auto& [name, overload] : kOperators) {
    if (!c10::Dispatcher::singleton().findSchema({name, overload})) return false;
  }
  return true;
}

GraphKernel packed_layer(const FusedLayer& fused, const at::Tensor& weight, const at::Tensor& bias,
                         const Integers& sizes) {
  STOKER_INVARIANT(!sizes.empty(), "a layer without an input");
  return fused.layer.target == "aten::conv2d" ? packed_convolution(fused, weight, bias, sizes)
                                              : packed_product(fused, weight, bias, sizes);
}

}  // namespace stoker

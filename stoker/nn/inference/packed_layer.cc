#include "stoker/nn/inference/packed_layer.h"

#include <array>
#include <functional>
#include <numeric>
#include <utility>

#include <ATen/ATen.h>

#include "stoker/core/invariant.h"
#include "stoker/nn/graph/graph_nodes.h"
#include "stoker/nn/inference/layer_call.h"

namespace stoker {
namespace {

using c10::IValue;
using Integers = std::vector<std::int64_t>;

constexpr std::array<LayerOperator, 7> kOperators = {{
    {"mkldnn::_reorder_convolution_weight", ""},
    {"mkldnn::_convolution_pointwise", ""},
    {"mkldnn::_convolution_pointwise", "binary"},
    {"mkldnn::_convolution_pointwise_", "binary"},
    {"mkldnn::_reorder_linear_weight", ""},
    {"mkldnn::_linear_pointwise", ""},
    {"mkldnn::_linear_pointwise", "binary"},
}};

GraphKernel packed_convolution(const FusedLayer& fused, const at::Tensor& weight,
                               const at::Tensor& bias, const Integers& sizes) {
  const GraphNode& node = fused.layer;
  const auto [padding, stride, dilation, groups] = convolution_numbers(node);
  const at::Tensor packed = LayerCall("mkldnn::_reorder_convolution_weight", "",
                                      {weight.contiguous(at::MemoryFormat::ChannelsLast), padding,
                                       stride, dilation, groups, sizes})({});
  const GraphReference input = *reference_argument(node.arguments, "input");
  if (!fused.added) {
    LayerCall call("mkldnn::_convolution_pointwise", "",
                   {IValue(), packed, own_bias(bias), padding, stride, dilation, groups,
                    fused.activation, activation_numbers(fused), fused.algorithm});
    return [call = std::move(call), input](const GraphValues& values) {
      return call({{0, values[input.value]}});
    };
  }
  const IValue activation = fused.activation == "none" ? IValue() : IValue(fused.activation);
  LayerCall call(
      fused.writes_added ? "mkldnn::_convolution_pointwise_" : "mkldnn::_convolution_pointwise",
      "binary",
      {IValue(), IValue(), packed, own_bias(bias), padding, stride, dilation, groups, "add", 1.0,
       activation, activation_numbers(fused), IValue()});
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
      LayerCall("mkldnn::_reorder_linear_weight", "", {weight.contiguous(), rows})({});
  const GraphReference input = *reference_argument(fused.layer.arguments, "input");
  if (!fused.added) {
    LayerCall call("mkldnn::_linear_pointwise", "",
                   {IValue(), packed, own_bias(bias), fused.activation, activation_numbers(fused),
                    fused.algorithm});
    return [call = std::move(call), input](const GraphValues& values) {
      return call({{0, values[input.value]}});
    };
  }
  LayerCall call("mkldnn::_linear_pointwise", "binary",
                 {IValue(), IValue(), packed, own_bias(bias), "add"});
  return [call = std::move(call), input, added = *fused.added](const GraphValues& values) {
    return call({{0, values[input.value]}, {1, values[added.value]}});
  };
}

}  // namespace

bool has_packed_layers() { return has_operators(kOperators); }

GraphKernel packed_layer(const FusedLayer& fused, const at::Tensor& weight, const at::Tensor& bias,
                         const Integers& sizes) {
  STOKER_INVARIANT(!sizes.empty(), "a layer without an input");
  return fused.layer.target == "aten::conv2d" ? packed_convolution(fused, weight, bias, sizes)
                                              : packed_product(fused, weight, bias, sizes);
}

}  // namespace stoker

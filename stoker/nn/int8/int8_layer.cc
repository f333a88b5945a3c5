#include "stoker/nn/int8/int8_layer.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include <ATen/ATen.h>

#include "stoker/nn/graph/graph_nodes.h"
#include "stoker/nn/inference/layer_call.h"

namespace stoker {
namespace {

using c10::IValue;

constexpr std::array<LayerOperator, 5> kInt8Operators = {{
    {"onednn::qconv_prepack", ""},
    {"onednn::qconv2d_pointwise", ""},
    {"onednn::qconv2d_pointwise", "binary"},
    {"onednn::qlinear_prepack", ""},
    {"onednn::qlinear_pointwise", ""},
}};

// What the result is rounded to, as calls take it: scale, zero point, type.
struct ResultArguments {
  explicit ResultArguments(const Int8Form& form)
      : scale(form ? form->scale : 1.0),
        zero_point(form ? form->zero_point : 0),
        type(static_cast<std::int64_t>(form ? at::kByte : at::kFloat)) {}
  double scale;
  std::int64_t zero_point;
  IValue type;
};

// In the form that the layer's result has.
at::Tensor added_value(const at::Tensor& value, const Int8LayerForms& forms, bool may_write) {
  if (forms.added && !forms.result) return from_bytes(value, *forms.added);
  if (!forms.added && forms.result) return to_bytes(value, *forms.result);
  return may_write ? value : value.clone();
}

GraphKernel int8_convolution(const FusedLayer& fused, const QuantisedWeight& weight,
                             const at::Tensor& bias, const std::vector<std::int64_t>& sizes,
                             const Int8LayerForms& forms) {
  const auto [padding, stride, dilation, groups] = convolution_numbers(fused.layer);
  const double input_scale = forms.input.scale;
  const at::Tensor packed =
      LayerCall("onednn::qconv_prepack", "",
                {weight.values, weight.scales, input_scale, forms.input.zero_point, stride, padding,
                 dilation, groups, sizes})({});
  const at::Tensor zeros = at::zeros({weight.scales.size(0)}, at::kLong);
  const ResultArguments result(forms.result);
  const GraphReference input = *reference_argument(fused.layer.arguments, "input");
  const auto bytes = [forms, input](const GraphValues& values) {
    const at::Tensor& x = values[input.value].toTensor();
    return forms.input_is_bytes ? x : to_bytes(x, forms.input);
  };
  if (!fused.added) {
    LayerCall call(
        "onednn::qconv2d_pointwise", "",
        {IValue(), input_scale, forms.input.zero_point, packed, weight.scales, zeros,
         own_bias(bias), stride, padding, dilation, groups, result.scale, result.zero_point,
         result.type, fused.activation, activation_numbers(fused), fused.algorithm});
    return [call = std::move(call), bytes](const GraphValues& values) {
      return call({{0, bytes(values)}});
    };
  }
  // Bytes of a branch keep their own scale; others have been given the result's.
  const QuantisedValue added =
      forms.added && forms.result ? *forms.added : forms.result.value_or(QuantisedValue{});
  LayerCall call("onednn::qconv2d_pointwise", "binary",
                 {IValue(),
                  input_scale,
                  forms.input.zero_point,
                  packed,
                  weight.scales,
                  zeros,
                  IValue(),
                  own_bias(bias),
                  stride,
                  padding,
                  dilation,
                  groups,
                  result.scale,
                  result.zero_point,
                  result.type,
                  static_cast<double>(added.scale),
                  added.zero_point,
                  "sum",
                  1.0,
                  fused.activation,
                  activation_numbers(fused),
                  ""});
  return [call = std::move(call), bytes, forms, branch = *fused.added,
          may_write = fused.writes_added](const GraphValues& values) {
    const at::Tensor sum = added_value(values[branch.value].toTensor(), forms, may_write);
    return call({{0, bytes(values)}, {6, sum}});
  };
}

GraphKernel int8_product(const FusedLayer& fused, const QuantisedWeight& weight,
                         const at::Tensor& bias, const std::vector<std::int64_t>& sizes,
                         const Int8LayerForms& forms) {
  const at::Tensor packed = LayerCall("onednn::qlinear_prepack", "", {weight.values, sizes})({});
  const at::Tensor zeros = at::zeros({weight.scales.size(0)}, at::kLong);
  const ResultArguments result(forms.result);
  LayerCall call("onednn::qlinear_pointwise", "",
                 {IValue(), static_cast<double>(forms.input.scale), forms.input.zero_point, packed,
                  weight.scales, zeros, own_bias(bias), result.scale, result.zero_point,
                  result.type, fused.activation, activation_numbers(fused), fused.algorithm});
  const GraphReference input = *reference_argument(fused.layer.arguments, "input");
  return [call = std::move(call), forms, input](const GraphValues& values) {
    const at::Tensor& x = values[input.value].toTensor();
    return call({{0, forms.input_is_bytes ? x : to_bytes(x, forms.input)}});
  };
}

}  // namespace

bool has_int8_layers() { return has_operators(kInt8Operators); }

bool is_int8_activation(const GraphNode& layer, const std::string& activation) {
  static const std::set<std::string, std::less<>> kOfConvolutions = {"relu", "hardtanh",
                                                                     "hardswish", "swish"};
  static const std::set<std::string, std::less<>> kOfProducts = {"relu", "gelu"};
  return layer.target == "aten::conv2d" ? kOfConvolutions.contains(activation)
                                        : kOfProducts.contains(activation);
}

GraphKernel int8_layer(const FusedLayer& fused, const at::Tensor& weight, const at::Tensor& bias,
                       const std::vector<std::int64_t>& sizes, const Int8LayerForms& forms) {
  const QuantisedWeight quantised = quantised_weight(weight);
  return fused.layer.target == "aten::conv2d"
             ? int8_convolution(fused, quantised, bias, sizes, forms)
             : int8_product(fused, quantised, bias, sizes, forms);
}

std::optional<PoolSizes> byte_pool(const GraphNode& node) {
  if (node.target != "aten::max_pool2d") return std::nullopt;
  const GraphArgument* ceil = find_argument(node.arguments, "ceil_mode");
  const auto* rounds_up = ceil != nullptr ? std::get_if<bool>(ceil) : nullptr;
  const bool plain = (rounds_up == nullptr || !*rounds_up) &&
                     pair_argument(node, "dilation", {1, 1}) == std::vector<std::int64_t>{1, 1};
  PoolSizes sizes{.kernel = pair_argument(node, "kernel_size", {}), .stride = {}, .padding = {}};
  if (!plain || sizes.kernel.empty()) return std::nullopt;
  sizes.stride = pair_argument(node, "stride", sizes.kernel);
  sizes.padding = pair_argument(node, "padding", {0, 0});
  return sizes;
}

GraphKernel int8_pool(const GraphNode& node) {
  return [input = *reference_argument(node.arguments, "self"),
          sizes = byte_pool(node).value()](const GraphValues& values) {
    return max_pool_bytes(values[input.value].toTensor(), sizes);
  };
}

std::vector<bool> values_in_bytes(const FusedGraph& fused, const QuantisedValues& quantised) {
  const ExportedGraph& graph = fused.network.graph;
  std::vector<bool> possible(graph.values.size(), false), bytes(graph.values.size(), false);
  for (const auto& [value, form] : quantised) possible[value] = true;
  possible[graph.output.value] = false;
  // The bytes of a pool's result are some of its input's, so both must mean the same numbers.
  const auto passes_bytes = [&](const GraphNode& node, std::uint32_t made) {
    if (!byte_pool(node) || !possible[made]) return false;
    const auto input = quantised.find(reference_argument(node.arguments, "self")->value);
    return input != quantised.end() && input->second == quantised.at(made);
  };
  // From the last node on, so that a pool's result is known before its input.
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const GraphNode& node = graph.nodes[i];
    const std::uint32_t made = node.outputs[0].values[0].value;
    const bool is_layer_node = fused.layers.contains(i);
    if (is_layer_node) bytes[made] = possible[made];
    if (is_layer_node || passes_bytes(node, made)) continue;
    visit_references(node, [&](GraphReference value) { possible[value.value] = false; });
  }
  for (const GraphNode& node : graph.nodes) {
    const std::uint32_t made = node.outputs[0].values[0].value;
    if (!passes_bytes(node, made)) continue;
    bytes[made] = bytes[reference_argument(node.arguments, "self")->value];
  }
  return bytes;
}

}  // namespace stoker

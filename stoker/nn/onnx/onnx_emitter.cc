#include "stoker/nn/onnx/onnx_emitter.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/nn/graph/graph_nodes.h"
#include "stoker/nn/onnx/onnx_operators.h"
#include "stoker/nn/tensor_views.h"

namespace stoker {
namespace {

OnnxValue named_constant(OnnxGraph& onnx, const std::string& name, const at::Tensor& tensor) {
  const std::array<NamedTensor, 1> named = {NamedTensor{name, tensor}};
  const FileTensors rows(named);
  return onnx.constant(rows.views().front());
}

}  // namespace

std::int64_t onnx_type(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return 1;
    case at::kInt:
      return 6;
    case at::kLong:
      return 7;
    case at::kBool:
      return 9;
    case at::kDouble:
      return 11;
    default:
      throw Error({.what = "cannot export the network to ONNX",
                   .expected = "float32, float64, int32, int64 and bool in the graph",
                   .found = at::toString(type)});
  }
}

OnnxEmitter::OnnxEmitter(OnnxGraph& onnx, const InferenceGraph& network,
                         const std::vector<TracedValue>& values, const OnnxValue& pixels,
                         const QuantisedValues& quantised)
    : onnx_(onnx), network_(network), values_(values), pixels_(pixels), quantised_(quantised) {
  for (const GraphInput& input : network.graph.inputs) {
    if (input.kind == GraphInput::Kind::kImages) put(input.value, pixels);
  }
}

OnnxValue OnnxEmitter::emit() {
  for (const GraphNode& node : network_.graph.nodes) {
    const bool counts =
        any_output(node, [&](GraphReference value) { return traced(value).depends_on_images; });
    if (!counts) continue;
    const EmitOperator operation = onnx_operator(node.target);
    if (operation == nullptr) refuse(node, "operators that have a form in ONNX", node.target);
    operation(*this, node);
  }
  return value(network_.graph.output);
}

void OnnxEmitter::refuse(const GraphNode& node, std::string expected, std::string found) const {
  throw Error(
      {.what = "cannot export the network to ONNX",
       .expected = std::move(expected),
       .found = fmt::format("{}{}{}", found, node.module.empty() ? "" : " in ", node.module),
       .hint = "A .pt2 or safetensors file can hold it"});
}

OnnxValue OnnxEmitter::value(GraphReference reference) {
  const auto found = made_.find(reference.value);
  if (found != made_.end()) return found->second;
  const TracedValue& known = traced(reference);
  OnnxValue made;
  if (known.constant.defined()) {
    made = constant(known.constant);
    if (!known.sizes.empty() && known.sizes[0].grows()) {
      made = onnx_.node("Expand", {made, shape(known.sizes)});
    }
  } else {
    const auto& inputs = network_.graph.inputs;
    const auto input = std::ranges::find(inputs, reference, &GraphInput::value);
    if (input == inputs.end()) {
      throw Error({.what = "cannot export the network to ONNX",
                   .expected = "values that were computed before",
                   .found = network_.graph.values[reference.value].name});
    }
    const at::Tensor& tensor = network_.tensors[static_cast<std::size_t>(input - inputs.begin())];
    made = named_constant(onnx_, input->name, tensor);
  }
  made_[reference.value] = made;
  return made;
}

bool OnnxEmitter::has(const GraphNode& node, std::string_view name) const {
  const GraphArgument* found = find_argument(node.arguments, name);
  return found != nullptr && !std::holds_alternative<GraphNone>(*found);
}

OnnxValue OnnxEmitter::tensor(const GraphNode& node, std::string_view name, at::ScalarType like) {
  if (const auto reference = reference_argument(node.arguments, name)) {
    const TracedValue& known = traced(*reference);
    if (known.is_tensor) return cast(value(*reference), known.type, like);
    if (!known.number.grows()) return scalar(static_cast<double>(known.number.fixed), like);
  } else if (const auto given = number_argument(node.arguments, name)) {
    return scalar(*given, like);
  }
  refuse(node, fmt::format("a tensor as {} of {}", name, node.target), "something else");
}

const TracedValue& OnnxEmitter::traced(const GraphNode& node, std::string_view name) const {
  const auto reference = reference_argument(node.arguments, name);
  if (!reference) refuse(node, fmt::format("a tensor as {}", name), node.target);
  return values_[reference->value];
}

const TracedValue& OnnxEmitter::result(const GraphNode& node, std::size_t number) const {
  if (node.outputs.size() <= number || node.outputs[number].values.empty()) {
    refuse(node, "a result", node.target);
  }
  return values_[node.outputs[number].values[0].value];
}

std::int64_t OnnxEmitter::integer(const GraphNode& node, std::string_view name,
                                  std::int64_t otherwise) const {
  const GraphArgument* found = find_argument(node.arguments, name);
  if (found == nullptr || std::holds_alternative<GraphNone>(*found)) return otherwise;
  if (const auto* whole = std::get_if<std::int64_t>(found)) return *whole;
  if (const auto* reference = std::get_if<GraphReference>(found)) {
    const TracedSize& size = values_[reference->value].number;
    if (!size.grows()) return size.fixed;
  }
  refuse(node, fmt::format("an integer as {} that does not depend on the batch", name),
         node.target);
}

double OnnxEmitter::number(const GraphNode& node, std::string_view name, double otherwise) const {
  return number_argument(node.arguments, name).value_or(otherwise);
}

bool OnnxEmitter::flag(const GraphNode& node, std::string_view name, bool otherwise) const {
  const GraphArgument* found = find_argument(node.arguments, name);
  const auto* given = found != nullptr ? std::get_if<bool>(found) : nullptr;
  return given != nullptr ? *given : otherwise;
}

std::string OnnxEmitter::text(const GraphNode& node, std::string_view name,
                              const std::string& otherwise) const {
  const GraphArgument* found = find_argument(node.arguments, name);
  const auto* given = found != nullptr ? std::get_if<std::string>(found) : nullptr;
  return given != nullptr ? *given : otherwise;
}

OnnxEmitter::Sizes OnnxEmitter::integers(const GraphNode& node, std::string_view name,
                                         std::size_t count) const {
  const GraphArgument* found = find_argument(node.arguments, name);
  if (found == nullptr || std::holds_alternative<GraphNone>(*found)) return {};
  Sizes list;
  if (const auto* given = std::get_if<Sizes>(found)) {
    list = *given;
  } else if (const auto* sizes = std::get_if<std::vector<GraphSize>>(found)) {
    for (const GraphSize& size : *sizes) {
      const auto* reference = std::get_if<GraphReference>(&size);
      const TracedSize known = reference != nullptr ? values_[reference->value].number
                                                    : TracedSize{std::get<std::int64_t>(size), 0};
      if (known.grows()) refuse(node, fmt::format("{} that do not grow", name), node.target);
      list.push_back(known.fixed);
    }
  } else {
    list.push_back(integer(node, name, 0));
  }
  if (list.size() == 1 && count > 1) list.resize(count, list[0]);
  if (count > 0 && !list.empty() && list.size() != count) {
    refuse(node, fmt::format("{} values as {}", count, name), node.target);
  }
  return list;
}

std::int64_t OnnxEmitter::dimension(const GraphNode& node, std::string_view name,
                                    std::int64_t otherwise, std::size_t dimensions) const {
  const std::int64_t given = integer(node, name, otherwise);
  return given < 0 ? given + static_cast<std::int64_t>(dimensions) : given;
}

std::vector<OnnxValue> OnnxEmitter::tensors(const GraphNode& node, std::string_view name) {
  const GraphArgument* found = find_argument(node.arguments, name);
  using List = std::vector<std::optional<GraphReference>>;
  const auto* list = found != nullptr ? std::get_if<List>(found) : nullptr;
  if (list == nullptr) refuse(node, fmt::format("a list of tensors as {}", name), node.target);
  std::vector<OnnxValue> values;
  for (const auto& one : *list) {
    if (!one) refuse(node, fmt::format("tensors in {}", name), node.target);
    values.push_back(cast(value(*one), traced(*one).type, result(node).type));
  }
  return values;
}

void OnnxEmitter::set(const GraphNode& node, std::size_t number, OnnxValue value) {
  if (node.outputs.size() <= number || node.outputs[number].values.empty()) return;  // unused
  put(node.outputs[number].values[0], std::move(value));
}

void OnnxEmitter::set_list(const GraphNode& node, std::span<const OnnxValue> values) {
  const std::vector<GraphReference>& wanted = node.outputs.at(0).values;
  if (wanted.size() != values.size()) {
    refuse(node, fmt::format("{} parts", wanted.size()), fmt::format("{}", values.size()));
  }
  for (std::size_t i = 0; i < values.size(); ++i) put(wanted[i], values[i]);
}

void OnnxEmitter::put(GraphReference value, OnnxValue made) {
  const auto form = quantised_.find(value.value);
  made_[value.value] = form == quantised_.end() ? std::move(made) : rounded(made, form->second);
}

OnnxValue OnnxEmitter::rounded(const OnnxValue& x, const QuantisedValue& form) {
  const OnnxValue scale = scalar(form.scale),
                  zero = scalar(static_cast<double>(form.zero_point), at::kByte);
  return onnx_.node("DequantizeLinear",
                    {onnx_.node("QuantizeLinear", {x, scale, zero}), scale, zero});
}

OnnxValue OnnxEmitter::scaled(const at::Tensor& integers, const at::Tensor& scales,
                              std::int64_t dimension) {
  return onnx_.node(
      "DequantizeLinear",
      {constant(integers), constant(scales), constant(at::zeros_like(scales, integers.options()))},
      {{"axis", dimension}});
}

OnnxEmitter::LayerTensors OnnxEmitter::layer_tensors(const GraphNode& node, bool swapped) {
  const auto input = reference_argument(node.arguments, "input");
  const auto form = input ? quantised_.find(input->value) : quantised_.end();
  if (form == quantised_.end()) {
    const OnnxValue weight = tensor(node, "weight");
    return {.weight = swapped ? onnx_.node("Transpose", {weight}, {{"perm", Sizes{1, 0}}}) : weight,
            .bias = has(node, "bias") ? tensor(node, "bias") : OnnxValue{}};
  }
  const QuantisedWeight weight = quantised_weight(tensor_argument(network_, node, "weight"));
  LayerTensors tensors{.weight = swapped ? scaled(weight.values.t().contiguous(), weight.scales, 1)
                                         : scaled(weight.values, weight.scales, 0),
                       .bias = {}};
  if (!has(node, "bias")) return tensors;
  // In steps of the sum's integers, as runtimes need it.
  const at::Tensor scales = weight.scales.to(at::kDouble) * form->second.scale;
  const at::Tensor steps =
      (tensor_argument(network_, node, "bias").to(at::kDouble) / scales).round();
  constexpr double kMost = std::numeric_limits<std::int32_t>::max();
  tensors.bias = scaled(steps.clamp(-kMost, kMost).to(at::kInt), scales.to(at::kFloat), 0);
  return tensors;
}

OnnxValue OnnxEmitter::constant(const at::Tensor& tensor) {
  return named_constant(onnx_, onnx_.fresh_name("constant"), tensor);
}

OnnxValue OnnxEmitter::constant(const Sizes& integers) {
  return onnx_.constant(onnx_.fresh_name("integers"), integers);
}

OnnxValue OnnxEmitter::scalar(double number, at::ScalarType type) {
  return constant(at::full({}, number, type));
}

OnnxValue OnnxEmitter::cast(const OnnxValue& x, at::ScalarType from, at::ScalarType to) {
  return from == to ? x : onnx_.node("Cast", {x}, {{"to", onnx_type(to)}});
}

OnnxValue OnnxEmitter::reshape(const OnnxValue& x, const std::vector<TracedSize>& sizes) {
  if (std::ranges::count_if(sizes, &TracedSize::grows) > 1) {
    return onnx_.node("Reshape", {x, shape(sizes)});
  }
  Sizes list;
  for (const TracedSize& size : sizes) list.push_back(size.grows() ? -1 : size.fixed);
  return onnx_.node("Reshape", {x, constant(list)});
}

OnnxValue OnnxEmitter::shape(const std::vector<TracedSize>& sizes) {
  std::vector<OnnxValue> parts;
  for (const TracedSize& size : sizes) {
    if (!size.grows()) {
      parts.push_back(constant(Sizes{size.fixed}));
      continue;
    }
    if (!batch_) {
      const OnnxValue all = onnx_.node("Shape", {pixels_});
      batch_ = onnx_.node("Gather", {all, constant(Sizes{0})});
    }
    OnnxValue part = *batch_;
    if (size.per_sample != 1) part = onnx_.node("Mul", {part, constant(Sizes{size.per_sample})});
    if (size.fixed != 0) part = onnx_.node("Add", {part, constant(Sizes{size.fixed})});
    parts.push_back(part);
  }
  const std::vector<OnnxAttribute> attributes = {{"axis", std::int64_t{0}}};
  return onnx_.node("Concat", parts, attributes);
}

OnnxValue OnnxEmitter::slice(const OnnxValue& x, std::int64_t dimension, std::int64_t begin,
                             std::int64_t end, std::int64_t step) {
  return onnx_.node("Slice", {x, constant(Sizes{begin}), constant(Sizes{end}),
                              constant(Sizes{dimension}), constant(Sizes{step})});
}

OnnxEmitter::Sizes fixed_sizes(const OnnxEmitter& emitter, const GraphNode& node,
                               const TracedValue& value, std::size_t first) {
  OnnxEmitter::Sizes sizes;
  for (std::size_t i = first; i < value.sizes.size(); ++i) {
    if (value.sizes[i].grows()) {
      emitter.refuse(node, "sizes that do not depend on the batch", node.target);
    }
    sizes.push_back(value.sizes[i].fixed);
  }
  return sizes;
}

}  // namespace stoker

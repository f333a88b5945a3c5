#include <algorithm>
#include <array>
#include <limits>
#include <numbers>

#include <ATen/ATen.h>

#include "stoker/nn/graph/graph_nodes.h"
#include "stoker/nn/onnx/onnx_operators.h"

namespace stoker {
namespace {

using E = OnnxEmitter;
using N = GraphNode;

// The name of what ONNX calls the operator of one tensor.
std::string_view onnx_unary(std::string_view target) {
  constexpr auto kNames = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"aten::abs", "Abs"},
       {"aten::bitwise_not", "Not"},
       {"aten::cos", "Cos"},
       {"aten::erf", "Erf"},
       {"aten::exp", "Exp"},
       {"aten::hardswish", "HardSwish"},
       {"aten::log", "Log"},
       {"aten::logical_not", "Not"},
       {"aten::neg", "Neg"},
       {"aten::reciprocal", "Reciprocal"},
       {"aten::relu", "Relu"},
       {"aten::sigmoid", "Sigmoid"},
       {"aten::sin", "Sin"},
       {"aten::sqrt", "Sqrt"},
       {"aten::tanh", "Tanh"}});
  return std::ranges::find(kNames, target, [](const auto& pair) { return pair.first; })->second;
}

void emit_unary(E& e, const N& node) {
  const at::ScalarType type = e.result(node).type;
  e.set(node, e.onnx().node(onnx_unary(node.target), {e.tensor(node, "self", type)}));
}

void emit_same(E& e, const N& node) {
  e.set(node, e.tensor(node, "self", e.traced(node, "self").type));
}

// to.dtype, to.device and their like: the trace knows the type.
void emit_converted(E& e, const N& node) {
  e.set(node, e.tensor(node, "self", e.result(node).type));
}

void emit_hardsigmoid(E& e, const N& node) {
  e.set(node, e.onnx().node("HardSigmoid", {e.tensor(node, "self")},
                            {{"alpha", 1.0F / 6}, {"beta", 0.5F}}));
}

void emit_silu(E& e, const N& node) {
  const OnnxValue x = e.tensor(node, "self");
  e.set(node, e.onnx().node("Mul", {x, e.onnx().node("Sigmoid", {x})}));
}

void emit_mish(E& e, const N& node) {
  const OnnxValue x = e.tensor(node, "self");
  const OnnxValue soft = e.onnx().node("Softplus", {x});
  e.set(node, e.onnx().node("Mul", {x, e.onnx().node("Tanh", {soft})}));
}

void emit_softplus(E& e, const N& node) {
  if (e.number(node, "beta", 1) != 1) e.refuse(node, "softplus with beta 1", "another");
  e.set(node, e.onnx().node("Softplus", {e.tensor(node, "self")}));
}

// x/2 (1 + erf(x / √2)), or its approximation by tanh.
void emit_gelu(E& e, const N& node) {
  const OnnxValue x = e.tensor(node, "self");
  OnnxGraph& onnx = e.onnx();
  OnnxValue bend;
  if (e.text(node, "approximate", "none") == "tanh") {
    constexpr double kCubic = 0.044715;
    const OnnxValue square = onnx.node("Mul", {x, x});
    const OnnxValue cubic =
        onnx.node("Add", {onnx.node("Mul", {square, e.scalar(kCubic)}), e.scalar(1)});
    const double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // √(2 / π)
    bend = onnx.node("Tanh", {onnx.node("Mul", {onnx.node("Mul", {x, cubic}), e.scalar(scale)})});
  } else {
    bend = onnx.node("Erf", {onnx.node("Mul", {x, e.scalar(1 / std::numbers::sqrt2)})});
  }
  const OnnxValue gate = onnx.node("Add", {bend, e.scalar(1)});
  e.set(node, onnx.node("Mul", {onnx.node("Mul", {x, gate}), e.scalar(0.5)}));
}

void emit_elu(E& e, const N& node) {
  if (e.number(node, "scale", 1) != 1 || e.number(node, "input_scale", 1) != 1) {
    e.refuse(node, "elu with alpha alone", "another");
  }
  e.set(node, e.onnx().node("Elu", {e.tensor(node, "self")},
                            {{"alpha", static_cast<float>(e.number(node, "alpha", 1))}}));
}

void emit_leaky_relu(E& e, const N& node) {
  e.set(node,
        e.onnx().node("LeakyRelu", {e.tensor(node, "self")},
                      {{"alpha", static_cast<float>(e.number(node, "negative_slope", 0.01))}}));
}

void emit_prelu(E& e, const N& node) {
  OnnxValue weight = e.tensor(node, "weight");
  const std::size_t dimensions = e.traced(node, "self").sizes.size();
  const TracedValue& known = e.traced(node, "weight");
  if (known.sizes.size() == 1 && dimensions > 2) {  // one for each channel
    std::vector<TracedSize> sizes(dimensions - 1, TracedSize{1, 0});
    sizes[0] = known.sizes[0];
    weight = e.reshape(weight, sizes);
  }
  e.set(node, e.onnx().node("PRelu", {e.tensor(node, "self"), weight}));
}

// hardtanh, relu6 and the three clamps: bounds that are not given are infinite.
void emit_clip(E& e, const N& node) {
  constexpr double kAny = std::numeric_limits<double>::infinity();
  const at::ScalarType type = e.result(node).type;
  double low = -kAny, high = kAny;
  if (node.target == "aten::relu6") low = 0, high = 6;
  if (node.target == "aten::hardtanh") low = -1, high = 1;
  low = e.number(node, "min_val", e.number(node, "min", low));
  high = e.number(node, "max_val", e.number(node, "max", high));
  const OnnxValue none;
  e.set(node, e.onnx().node("Clip",
                            {e.tensor(node, "self", type), low > -kAny ? e.scalar(low, type) : none,
                             high < kAny ? e.scalar(high, type) : none}));
}

void emit_rsqrt(E& e, const N& node) {
  e.set(node, e.onnx().node("Reciprocal", {e.onnx().node("Sqrt", {e.tensor(node, "self")})}));
}

// The second of two, scaled by alpha.
OnnxValue scaled_other(E& e, const N& node, const char* name, at::ScalarType type) {
  const OnnxValue other = e.tensor(node, name, type);
  const double alpha = e.number(node, "alpha", 1);
  return alpha == 1 ? other : e.onnx().node("Mul", {other, e.scalar(alpha, type)});
}

template <char kOperation>
void emit_arithmetic(E& e, const N& node) {
  constexpr std::string_view kName = kOperation == '+'   ? "Add"
                                     : kOperation == '-' ? "Sub"
                                     : kOperation == '*' ? "Mul"
                                     : kOperation == '/' ? "Div"
                                     : kOperation == '<' ? "Min"
                                                         : "Max";
  const at::ScalarType type = e.result(node).type;
  e.set(node,
        e.onnx().node(kName, {e.tensor(node, "self", type), scaled_other(e, node, "other", type)}));
}

void emit_rsub(E& e, const N& node) {
  const at::ScalarType type = e.result(node).type;
  const OnnxValue self = scaled_other(e, node, "self", type);
  e.set(node, e.onnx().node("Sub", {e.tensor(node, "other", type), self}));
}

void emit_pow(E& e, const N& node) {
  const at::ScalarType type = e.result(node).type;
  e.set(node,
        e.onnx().node("Pow", {e.tensor(node, "self", type), e.tensor(node, "exponent", type)}));
}

template <char kOperation>
void emit_comparison(E& e, const N& node) {
  constexpr std::string_view kName = kOperation == '>'   ? "Greater"
                                     : kOperation == '<' ? "Less"
                                                         : "Equal";
  const at::ScalarType type = e.traced(node, "self").type;
  OnnxValue found =
      e.onnx().node(kName, {e.tensor(node, "self", type), e.tensor(node, "other", type)});
  if (kOperation == '!') found = e.onnx().node("Not", {found});
  e.set(node, found);
}

void emit_and(E& e, const N& node) {
  e.set(node, e.onnx().node(
                  "And", {e.tensor(node, "self", at::kBool), e.tensor(node, "other", at::kBool)}));
}

void emit_where(E& e, const N& node) {
  const at::ScalarType type = e.result(node).type;
  e.set(node,
        e.onnx().node("Where", {e.tensor(node, "condition", at::kBool),
                                e.tensor(node, "self", type), e.tensor(node, "other", type)}));
}

void emit_masked_fill(E& e, const N& node) {
  const at::ScalarType type = e.result(node).type;
  e.set(node,
        e.onnx().node("Where", {e.tensor(node, "mask", at::kBool), e.tensor(node, "value", type),
                                e.tensor(node, "self", type)}));
}

void emit_addcmul(E& e, const N& node) {
  OnnxValue product = e.onnx().node("Mul", {e.tensor(node, "tensor1"), e.tensor(node, "tensor2")});
  const double by = e.number(node, "value", 1);
  if (by != 1) product = e.onnx().node("Mul", {product, e.scalar(by)});
  e.set(node, e.onnx().node("Add", {e.tensor(node, "self"), product}));
}

void emit_softmax(E& e, const N& node) {
  const std::size_t dimensions = e.traced(node, "self").sizes.size();
  e.set(node, e.onnx().node("Softmax", {e.tensor(node, "self")},
                            {{"axis", e.dimension(node, "dim", -1, dimensions)}}));
}

E::Sizes reduced_dimensions(E& e, const N& node) {
  const std::size_t dimensions = e.traced(node, "self").sizes.size();
  E::Sizes list = e.integers(node, "dim");
  if (list.empty()) {
    for (std::size_t i = 0; i < dimensions; ++i) list.push_back(static_cast<std::int64_t>(i));
  }
  for (std::int64_t& one : list) {
    if (one < 0) one += static_cast<std::int64_t>(dimensions);
  }
  return list;
}

OnnxValue reduced(E& e, const N& node, std::string_view operation, const OnnxValue& x,
                  bool keep_dimensions) {
  const E::Sizes list = reduced_dimensions(e, node);
  const std::int64_t keep = keep_dimensions ? 1 : 0;
  if (operation == "ReduceSum") {  // the only one that takes dimensions as a tensor in version 17
    return e.onnx().node(operation, {x, e.constant(list)}, {{"keepdims", keep}});
  }
  return e.onnx().node(operation, {x}, {{"axes", list}, {"keepdims", keep}});
}

void emit_reduction(E& e, const N& node) {
  const std::string_view operation = node.target.starts_with("aten::mean")   ? "ReduceMean"
                                     : node.target.starts_with("aten::sum")  ? "ReduceSum"
                                     : node.target.starts_with("aten::amax") ? "ReduceMax"
                                     : node.target.starts_with("aten::max")  ? "ReduceMax"
                                     : node.target.starts_with("aten::amin") ? "ReduceMin"
                                                                             : "ReduceL2";
  if (operation == "ReduceL2" && e.number(node, "ord", 2) != 2) {
    e.refuse(node, "the norm of order 2", "another");
  }
  const at::ScalarType type = e.result(node).type;
  e.set(node,
        reduced(e, node, operation, e.tensor(node, "self", type), e.flag(node, "keepdim", false)));
}

// var, std and var_mean; in PyTorch's way the divisor is one less than the count.
void emit_variance(E& e, const N& node) {
  const OnnxValue x = e.tensor(node, "self");
  OnnxGraph& onnx = e.onnx();
  const TracedValue& known = e.traced(node, "self");
  std::int64_t count = 1;
  for (const std::int64_t dimension : reduced_dimensions(e, node)) {
    const TracedSize& size = known.sizes.at(static_cast<std::size_t>(dimension));
    if (size.grows()) e.refuse(node, "a variance that is not over the batch", node.target);
    count *= size.fixed;
  }
  const OnnxValue centred = onnx.node("Sub", {x, reduced(e, node, "ReduceMean", x, true)});
  const bool keep = e.flag(node, "keepdim", false);
  OnnxValue variance = reduced(e, node, "ReduceMean", onnx.node("Mul", {centred, centred}), keep);
  const double correction = e.number(node, "correction", 1);
  if (correction != 0) {
    const auto values = static_cast<double>(count);
    variance = onnx.node("Mul", {variance, e.scalar(values / (values - correction))});
  }
  if (node.target.starts_with("aten::std")) variance = onnx.node("Sqrt", {variance});
  e.set(node, variance);
  if (node.target.starts_with("aten::var_mean")) {
    e.set(node, 1, reduced(e, node, "ReduceMean", x, keep));
  }
}

constexpr auto kElementwise = std::to_array<std::pair<std::string_view, EmitOperator>>({
    {"aten::abs", emit_unary},
    {"aten::add.Scalar", emit_arithmetic<'+'>},
    {"aten::add.Tensor", emit_arithmetic<'+'>},
    {"aten::addcmul", emit_addcmul},
    {"aten::alias", emit_same},
    {"aten::amax", emit_reduction},
    {"aten::amin", emit_reduction},
    {"aten::bitwise_and.Tensor", emit_and},
    {"aten::bitwise_not", emit_unary},
    {"aten::clamp", emit_clip},
    {"aten::clamp_max", emit_clip},
    {"aten::clamp_min", emit_clip},
    {"aten::clone", emit_same},
    {"aten::contiguous", emit_same},
    {"aten::cos", emit_unary},
    {"aten::detach", emit_same},
    {"aten::div.Scalar", emit_arithmetic<'/'>},
    {"aten::div.Tensor", emit_arithmetic<'/'>},
    {"aten::elu", emit_elu},
    {"aten::eq.Scalar", emit_comparison<'='>},
    {"aten::erf", emit_unary},
    {"aten::exp", emit_unary},
    {"aten::gelu", emit_gelu},
    {"aten::gt.Scalar", emit_comparison<'>'>},
    {"aten::hardsigmoid", emit_hardsigmoid},
    {"aten::hardswish", emit_unary},
    {"aten::hardtanh", emit_clip},
    {"aten::leaky_relu", emit_leaky_relu},
    {"aten::lift_fresh_copy", emit_same},
    {"aten::linalg_vector_norm", emit_reduction},
    {"aten::log", emit_unary},
    {"aten::logical_not", emit_unary},
    {"aten::lt.Scalar", emit_comparison<'<'>},
    {"aten::masked_fill.Scalar", emit_masked_fill},
    {"aten::max.dim", emit_reduction},
    {"aten::maximum", emit_arithmetic<'>'>},
    {"aten::mean", emit_reduction},
    {"aten::mean.dim", emit_reduction},
    {"aten::minimum", emit_arithmetic<'<'>},
    {"aten::mish", emit_mish},
    {"aten::mul.Scalar", emit_arithmetic<'*'>},
    {"aten::mul.Tensor", emit_arithmetic<'*'>},
    {"aten::ne.Scalar", emit_comparison<'!'>},
    {"aten::neg", emit_unary},
    {"aten::pow.Scalar", emit_pow},
    {"aten::pow.Tensor_Scalar", emit_pow},
    {"aten::prelu", emit_prelu},
    {"aten::reciprocal", emit_unary},
    {"aten::relu", emit_unary},
    {"aten::relu6", emit_clip},
    {"aten::rsqrt", emit_rsqrt},
    {"aten::rsub.Scalar", emit_rsub},
    {"aten::sigmoid", emit_unary},
    {"aten::silu", emit_silu},
    {"aten::sin", emit_unary},
    {"aten::softmax.int", emit_softmax},
    {"aten::softplus", emit_softplus},
    {"aten::sqrt", emit_unary},
    {"aten::std.correction", emit_variance},
    {"aten::sub.Scalar", emit_arithmetic<'-'>},
    {"aten::sub.Tensor", emit_arithmetic<'-'>},
    {"aten::sum.dim_IntList", emit_reduction},
    {"aten::tanh", emit_unary},
    {"aten::to.device", emit_converted},
    {"aten::to.dtype", emit_converted},
    {"aten::to.dtype_layout", emit_converted},
    {"aten::type_as", emit_converted},
    {"aten::var.correction", emit_variance},
    {"aten::var_mean.correction", emit_variance},
    {"aten::where.self", emit_where},
});

}  // namespace

OnnxOperators onnx_elementwise() { return kElementwise; }

EmitOperator onnx_operator(std::string_view target) {
  for (const OnnxOperators group :
       {onnx_elementwise(), onnx_layers(), onnx_pools(), onnx_shapes()}) {
    const auto found =
        std::ranges::find(group, target, [](const auto& pair) { return pair.first; });
    if (found != group.end()) return found->second;
  }
  return nullptr;
}

}  // namespace stoker

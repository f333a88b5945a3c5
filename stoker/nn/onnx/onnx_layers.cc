#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <ATen/ATen.h>

#include "stoker/nn/graph/graph_nodes.h"
#include "stoker/nn/onnx/onnx_operators.h"

namespace stoker {
namespace {

using E = OnnxEmitter;
using N = GraphNode;
using Attributes = std::vector<OnnxAttribute>;

OnnxValue with_last_two_swapped(E& e, const OnnxValue& x, std::size_t dimensions) {
  E::Sizes order(dimensions);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[dimensions - 1], order[dimensions - 2]);
  return e.onnx().node("Transpose", {x}, {{"perm", order}});
}

// conv1d, conv2d and conv2d.padding.
void emit_convolution(E& e, const N& node) {
  const std::size_t dimensions = e.traced(node, "input").sizes.size();
  const std::size_t spatial = node.target.starts_with("aten::conv1d") ? 1 : 2;
  if (dimensions != spatial + 2) e.refuse(node, "a batch of images", "another tensor");
  const auto list = [&](const char* name, std::int64_t otherwise) {
    E::Sizes given = e.integers(node, name, spatial);
    return given.empty() ? E::Sizes(spatial, otherwise) : given;
  };
  const E::LayerTensors own = e.layer_tensors(node);
  std::vector<OnnxValue> inputs = {e.tensor(node, "input"), own.weight};
  if (e.has(node, "bias")) inputs.push_back(own.bias);
  Attributes attributes = {{"strides", list("stride", 1)},
                           {"dilations", list("dilation", 1)},
                           {"group", e.integer(node, "groups", 1)}};
  const std::string named = e.text(node, "padding", "");
  if (named == "same") {  // what is left over goes behind
    attributes.push_back({"auto_pad", "SAME_UPPER"});
  } else {
    E::Sizes pads = named == "valid" ? E::Sizes(spatial, 0) : list("padding", 0);
    pads.insert(pads.end(), pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(spatial));
    attributes.push_back({"pads", pads});
  }
  e.set(node, e.onnx().node("Conv", inputs, attributes));
}

void emit_linear(E& e, const N& node) {
  const bool biased = e.has(node, "bias"), is_matrix = e.traced(node, "input").sizes.size() == 2;
  const OnnxValue x = e.tensor(node, "input");
  const E::LayerTensors own = e.layer_tensors(node, /*swapped=*/!is_matrix);
  if (is_matrix) {
    std::vector<OnnxValue> inputs = {x, own.weight};
    if (biased) inputs.push_back(own.bias);
    return e.set(node, e.onnx().node("Gemm", inputs, Attributes{{"transB", std::int64_t{1}}}));
  }
  OnnxValue product = e.onnx().node("MatMul", {x, own.weight});
  if (biased) product = e.onnx().node("Add", {product, own.bias});
  e.set(node, product);
}

void emit_matmul(E& e, const N& node) {
  const char* second = node.target == "aten::matmul" ? "other" : "mat2";
  e.set(node, e.onnx().node("MatMul", {e.tensor(node, "self"), e.tensor(node, second)}));
}

// self·beta + the product·alpha
void emit_added_product(E& e, const N& node) {
  const bool batches = node.target == "aten::baddbmm";
  OnnxValue product = e.onnx().node("MatMul", {e.tensor(node, batches ? "batch1" : "mat1"),
                                               e.tensor(node, batches ? "batch2" : "mat2")});
  OnnxValue added = e.tensor(node, "self");
  const double alpha = e.number(node, "alpha", 1), beta = e.number(node, "beta", 1);
  if (alpha != 1) product = e.onnx().node("Mul", {product, e.scalar(alpha)});
  if (beta != 1) added = e.onnx().node("Mul", {added, e.scalar(beta)});
  e.set(node, e.onnx().node("Add", {product, added}));
}

void emit_einsum(E& e, const N& node) {
  const std::vector<OnnxValue> inputs = e.tensors(node, "tensors");
  e.set(node,
        e.onnx().node("Einsum", inputs, Attributes{{"equation", e.text(node, "equation", "")}}));
}

// A norm's weights, or what stands for those that are not given.
OnnxValue norm_tensor(E& e, const N& node, const char* name, const E::Sizes& shape,
                      double missing) {
  return e.has(node, name) ? e.tensor(node, name) : e.constant(at::full(shape, missing));
}

OnnxAttribute epsilon_of(E& e, const N& node) {
  return {"epsilon", static_cast<float>(e.number(node, "eps", 1e-5))};
}

void emit_batch_norm(E& e, const N& node) {
  if (!e.has(node, "running_mean")) e.refuse(node, "norms with running statistics", "none");
  const E::Sizes channels = {e.traced(node, "running_mean").sizes.at(0).fixed};
  e.set(node, e.onnx().node("BatchNormalization",
                            {e.tensor(node, "input"), norm_tensor(e, node, "weight", channels, 1),
                             norm_tensor(e, node, "bias", channels, 0),
                             e.tensor(node, "running_mean"), e.tensor(node, "running_var")},
                            {epsilon_of(e, node)}));
}

void emit_layer_norm(E& e, const N& node) {
  const E::Sizes shape = e.integers(node, "normalized_shape");
  const OnnxValue weight = norm_tensor(e, node, "weight", shape, 1);
  const std::int64_t axis = -static_cast<std::int64_t>(shape.size());
  std::vector<OnnxValue> inputs = {e.tensor(node, "input"), weight};
  if (e.has(node, "bias")) inputs.push_back(e.tensor(node, "bias"));
  e.set(node, e.onnx().node("LayerNormalization", inputs,
                            Attributes{{"axis", axis}, epsilon_of(e, node)}));
}

// x / √(mean x² + ε) · weight
void emit_rms_norm(E& e, const N& node) {
  OnnxGraph& onnx = e.onnx();
  const OnnxValue x = e.tensor(node, "input");
  const auto count = static_cast<std::int64_t>(e.integers(node, "normalized_shape").size());
  E::Sizes axes;
  for (std::int64_t i = -count; i < 0; ++i) axes.push_back(i);
  const OnnxValue mean = onnx.node("ReduceMean", {onnx.node("Mul", {x, x})},
                                   {{"axes", axes}, {"keepdims", std::int64_t{1}}});
  const double epsilon = e.number(node, "eps", std::numeric_limits<float>::epsilon());
  const OnnxValue root = onnx.node("Sqrt", {onnx.node("Add", {mean, e.scalar(epsilon)})});
  OnnxValue y = onnx.node("Div", {x, root});
  if (e.has(node, "weight")) y = onnx.node("Mul", {y, e.tensor(node, "weight")});
  e.set(node, y);
}

// Groups as the channels of a norm of each image, then the weights of each channel.
void emit_group_norm(E& e, const N& node) {
  OnnxGraph& onnx = e.onnx();
  const TracedValue& known = e.traced(node, "input");
  const std::int64_t groups = e.integer(node, "num_groups", 1);
  const std::int64_t channels = known.sizes.at(1).fixed;
  const OnnxValue grouped =
      onnx.node("Reshape", {e.tensor(node, "input"), e.constant(E::Sizes{0, groups, -1})});
  const OnnxValue normalised =
      onnx.node("InstanceNormalization",
                {grouped, e.constant(at::ones({groups})), e.constant(at::zeros({groups}))},
                {epsilon_of(e, node)});
  OnnxValue y = e.reshape(normalised, known.sizes);
  std::vector<TracedSize> row(known.sizes.size() - 1, TracedSize{1, 0});
  row[0].fixed = channels;
  if (e.has(node, "weight")) {
    y = onnx.node("Mul", {y, e.reshape(e.tensor(node, "weight"), row)});
  }
  if (e.has(node, "bias")) y = onnx.node("Add", {y, e.reshape(e.tensor(node, "bias"), row)});
  e.set(node, y);
}

// softmax(query·keyᵀ·scale + mask)·value
void emit_attention(E& e, const N& node) {
  OnnxGraph& onnx = e.onnx();
  if (e.flag(node, "is_causal", false) || e.flag(node, "enable_gqa", false)) {
    e.refuse(node, "attention that is not causal and has no groups", "another");
  }
  const TracedValue& query = e.traced(node, "query");
  const std::size_t dimensions = query.sizes.size();
  const auto width = static_cast<double>(query.sizes.back().fixed);
  const double scale = e.number(node, "scale", 1 / std::sqrt(width));
  const OnnxValue q = onnx.node("Mul", {e.tensor(node, "query"), e.scalar(scale)});
  const OnnxValue k = with_last_two_swapped(e, e.tensor(node, "key"), dimensions);
  OnnxValue weights = onnx.node("MatMul", {q, k});
  if (e.has(node, "attn_mask")) {
    const bool chooses = e.traced(node, "attn_mask").type == at::kBool;
    if (chooses) {
      weights = onnx.node("Where", {e.tensor(node, "attn_mask", at::kBool), weights,
                                    e.scalar(-std::numeric_limits<float>::infinity())});
    } else {
      weights = onnx.node("Add", {weights, e.tensor(node, "attn_mask")});
    }
  }
  weights = onnx.node("Softmax", {weights}, {{"axis", std::int64_t{-1}}});
  e.set(node, onnx.node("MatMul", {weights, e.tensor(node, "value")}));
}

constexpr auto kLayers = std::to_array<std::pair<std::string_view, EmitOperator>>({
    {"aten::addmm", emit_added_product},
    {"aten::baddbmm", emit_added_product},
    {"aten::batch_norm", emit_batch_norm},
    {"aten::bmm", emit_matmul},
    {"aten::conv1d", emit_convolution},
    {"aten::conv2d", emit_convolution},
    {"aten::conv2d.padding", emit_convolution},
    {"aten::einsum", emit_einsum},
    {"aten::group_norm", emit_group_norm},
    {"aten::layer_norm", emit_layer_norm},
    {"aten::linear", emit_linear},
    {"aten::matmul", emit_matmul},
    {"aten::mm", emit_matmul},
    {"aten::rms_norm", emit_rms_norm},
    {"aten::scaled_dot_product_attention", emit_attention},
});

}  // namespace

OnnxOperators onnx_layers() { return kLayers; }

}  // namespace stoker

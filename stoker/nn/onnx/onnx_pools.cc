#include <array>

#include <ATen/ATen.h>

#include "stoker/nn/graph/graph_nodes.h"
#include "stoker/nn/onnx/onnx_operators.h"

namespace stoker {
namespace {

using E = OnnxEmitter;
using N = GraphNode;
using Attributes = std::vector<OnnxAttribute>;

Attributes window_of(E& e, const N& node) {
  const E::Sizes side = e.integers(node, "kernel_size", 2);
  E::Sizes stride = e.integers(node, "stride", 2), pads = e.integers(node, "padding", 2);
  if (stride.empty()) stride = side;
  if (pads.empty()) pads = {0, 0};
  const std::int64_t ceiling = e.flag(node, "ceil_mode", false) ? 1 : 0;
  return {{"kernel_shape", side},
          {"strides", stride},
          {"pads", E::Sizes{pads[0], pads[1], pads[0], pads[1]}},
          {"ceil_mode", ceiling}};
}

void emit_max_pool(E& e, const N& node) {
  Attributes attributes = window_of(e, node);
  if (const E::Sizes dilation = e.integers(node, "dilation", 2); !dilation.empty()) {
    attributes.push_back({"dilations", dilation});
  }
  const std::vector<OnnxValue> x = {e.tensor(node, "self")};
  e.set(node, e.onnx().node("MaxPool", x, attributes));
}

void emit_average_pool(E& e, const N& node) {
  if (e.has(node, "divisor_override")) e.refuse(node, "means of all pixels", "another divisor");
  const bool counts = e.flag(node, "count_include_pad", true);
  if (counts && e.flag(node, "ceil_mode", false)) {
    e.refuse(node, "windows within the image, or without the padding in their mean", "others");
  }
  Attributes attributes = window_of(e, node);
  attributes.push_back({"count_include_pad", std::int64_t{counts ? 1 : 0}});
  const std::vector<OnnxValue> x = {e.tensor(node, "self")};
  e.set(node, e.onnx().node("AveragePool", x, attributes));
}

// (outputs, inputs): row o has the mean of inputs floor(o n / m) up to ceil((o + 1) n / m).
at::Tensor mean_matrix(std::int64_t inputs, std::int64_t outputs) {
  at::Tensor matrix = at::zeros({outputs, inputs});
  for (std::int64_t row = 0; row < outputs; ++row) {
    const std::int64_t begin = row * inputs / outputs;
    const std::int64_t end = ((row + 1) * inputs + outputs - 1) / outputs;
    matrix.select(0, row).slice(0, begin, end).fill_(1.0 / static_cast<double>(end - begin));
  }
  return matrix;
}

// Each pixel of the result is the mean of its part of the image. Parts of unequal size overlap,
// which no pooling of ONNX does: then two multiplications by matrices of means.
void emit_adaptive_pool(E& e, const N& node) {
  const E::Sizes from = fixed_sizes(e, node, e.traced(node, "self"), 1),
                 to = e.integers(node, "output_size", 2);
  if (from.size() != 3) e.refuse(node, "a batch of images", "another tensor");
  const std::int64_t height = from[1], width = from[2];
  const bool is_mean = node.target == "aten::adaptive_avg_pool2d";
  OnnxGraph& onnx = e.onnx();
  const OnnxValue x = e.tensor(node, "self");
  if (to == E::Sizes{1, 1}) {
    return e.set(node, onnx.node(is_mean ? "GlobalAveragePool" : "GlobalMaxPool", {x}));
  }
  if (to == E::Sizes{height, width}) return e.set(node, x);
  if (height % to[0] == 0 && width % to[1] == 0) {
    const E::Sizes side = {height / to[0], width / to[1]};
    return e.set(node, onnx.node(is_mean ? "AveragePool" : "MaxPool", {x},
                                 {{"kernel_shape", side}, {"strides", side}}));
  }
  if (!is_mean) e.refuse(node, "a maximum of parts of equal size", "others");
  const OnnxValue rows = e.constant(mean_matrix(height, to[0])),
                  columns = e.constant(mean_matrix(width, to[1]).t().contiguous());
  e.set(node, onnx.node("MatMul", {onnx.node("MatMul", {rows, x}), columns}));
}

void emit_resize(E& e, const N& node) {
  const TracedValue &from = e.traced(node, "input"), &to = e.result(node);
  std::vector<float> scales;
  for (std::size_t i = 0; i < to.sizes.size(); ++i) {
    const bool grows = to.sizes[i].grows();
    scales.push_back(grows ? 1.0F
                           : static_cast<float>(to.sizes[i].fixed) /
                                 static_cast<float>(from.sizes.at(i).fixed));
  }
  const bool nearest = node.target.starts_with("aten::upsample_nearest"),
             cubic = node.target.starts_with("aten::upsample_bicubic");
  const std::string places = nearest                                ? "asymmetric"
                             : e.flag(node, "align_corners", false) ? "align_corners"
                                                                    : "half_pixel";
  Attributes attributes = {{"mode", nearest ? "nearest"
                                    : cubic ? "cubic"
                                            : "linear"},
                           {"coordinate_transformation_mode", places}};
  if (nearest) attributes.push_back({"nearest_mode", "floor"});
  if (cubic) attributes.push_back({"cubic_coeff_a", -0.75F});
  const std::vector<OnnxValue> inputs = {
      e.tensor(node, "input"), {}, e.constant(at::tensor(scales))};
  e.set(node, e.onnx().node("Resize", inputs, attributes));
}

constexpr auto kPools = std::to_array<std::pair<std::string_view, EmitOperator>>({
    {"aten::adaptive_avg_pool2d", emit_adaptive_pool},
    {"aten::adaptive_max_pool2d", emit_adaptive_pool},
    {"aten::avg_pool2d", emit_average_pool},
    {"aten::max_pool2d", emit_max_pool},
    {"aten::upsample_bicubic2d.vec", emit_resize},
    {"aten::upsample_bilinear2d.vec", emit_resize},
    {"aten::upsample_nearest2d.vec", emit_resize},
});

}  // namespace

OnnxOperators onnx_pools() { return kPools; }

}  // namespace stoker

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/nn/graph/graph_nodes.h"
#include "stoker/nn/onnx/onnx_operators.h"

namespace stoker {
namespace {

using E = OnnxEmitter;
using N = GraphNode;
using Attributes = std::vector<OnnxAttribute>;

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

// A tensor that is moved, of whatever type it has.
OnnxValue self_of(E& e, const N& node) {
  return e.tensor(node, "self", e.traced(node, "self").type);
}
std::size_t dimensions_of(E& e, const N& node) { return e.traced(node, "self").sizes.size(); }

// view, reshape, flatten, unsqueeze, squeeze and so on: the trace knows the sizes.
void emit_reshape(E& e, const N& node) {
  e.set(node, e.reshape(self_of(e, node), e.result(node).sizes));
}

void emit_expand(E& e, const N& node) {
  e.set(node, e.onnx().node("Expand", {self_of(e, node), e.shape(e.result(node).sizes)}));
}

void emit_repeat(E& e, const N& node) {
  const E::Sizes times = e.integers(node, "repeats");
  if (times.size() != dimensions_of(e, node)) {
    e.refuse(node, "repeats of all dimensions", node.target);
  }
  e.set(node, e.onnx().node("Tile", {self_of(e, node), e.constant(times)}));
}

void emit_permute(E& e, const N& node) {
  E::Sizes order = e.integers(node, "dims");
  const auto count = static_cast<std::int64_t>(order.size());
  for (std::int64_t& one : order) one = one < 0 ? one + count : one;
  e.set(node, e.onnx().node("Transpose", {self_of(e, node)}, {{"perm", order}}));
}

void emit_transpose(E& e, const N& node) {
  const std::size_t count = dimensions_of(e, node);
  E::Sizes order(count);
  std::iota(order.begin(), order.end(), 0);
  const bool named = node.target == "aten::transpose.int";  // else t()
  if (named || count == 2) {
    const auto place = [&](const char* name, std::int64_t otherwise) {
      return static_cast<std::size_t>(e.dimension(node, name, otherwise, count));
    };
    std::swap(order.at(place("dim0", 0)), order.at(place("dim1", 1)));
  }
  e.set(node, e.onnx().node("Transpose", {self_of(e, node)}, {{"perm", order}}));
}

void emit_cat(E& e, const N& node) {
  const std::int64_t axis = e.dimension(node, "dim", 0, e.result(node).sizes.size());
  const std::vector<OnnxValue> parts = e.tensors(node, "tensors");
  e.set(node, e.onnx().node("Concat", parts, Attributes{{"axis", axis}}));
}

void emit_stack(E& e, const N& node) {
  const std::vector<TracedSize>& sizes = e.result(node).sizes;
  const std::int64_t axis = e.dimension(node, "dim", 0, sizes.size());
  std::vector<TracedSize> row = sizes;
  row.at(static_cast<std::size_t>(axis)) = {1, 0};
  std::vector<OnnxValue> parts = e.tensors(node, "tensors");
  for (OnnxValue& part : parts) part = e.reshape(part, row);
  e.set(node, e.onnx().node("Concat", parts, Attributes{{"axis", axis}}));
}

// How long the parts of chunk, split and split_with_sizes are.
E::Sizes part_lengths(E& e, const N& node, std::int64_t length) {
  if (node.target == "aten::split_with_sizes") return e.integers(node, "split_sizes");
  std::int64_t each = 1;
  if (node.target == "aten::chunk") {
    const std::int64_t chunks = std::max<std::int64_t>(1, e.integer(node, "chunks", 1));
    each = (length + chunks - 1) / chunks;
  } else if (node.target == "aten::split.Tensor") {
    each = std::max<std::int64_t>(1, e.integer(node, "split_size", 1));
  }
  E::Sizes lengths;
  for (std::int64_t begin = 0; begin < length; begin += each) {
    lengths.push_back(std::min(each, length - begin));
  }
  return lengths;
}

// unbind too: its parts have a dimension less.
void emit_parts(E& e, const N& node) {
  const std::vector<TracedSize>& sizes = e.traced(node, "self").sizes;
  const std::int64_t axis = e.dimension(node, "dim", 0, sizes.size());
  const TracedSize& along = sizes.at(static_cast<std::size_t>(axis));
  if (along.grows()) e.refuse(node, "parts of a dimension that does not grow", node.target);
  const E::Sizes lengths = part_lengths(e, node, along.fixed);
  const std::vector<OnnxValue> inputs = {self_of(e, node), e.constant(lengths)};
  std::vector<OnnxValue> parts =
      e.onnx().nodes("Split", inputs, Attributes{{"axis", axis}}, lengths.size());
  if (node.target == "aten::unbind.int") {
    for (OnnxValue& part : parts) {
      part = e.onnx().node("Squeeze", {part, e.constant(E::Sizes{axis})});
    }
  }
  e.set_list(node, parts);
}

void emit_select(E& e, const N& node) {
  const std::int64_t axis = e.dimension(node, "dim", 0, dimensions_of(e, node));
  const OnnxValue index = e.scalar(static_cast<double>(e.integer(node, "index", 0)), at::kLong);
  e.set(node, e.onnx().node("Gather", {self_of(e, node), index}, {{"axis", axis}}));
}

void emit_slice(E& e, const N& node) {
  const std::int64_t axis = e.dimension(node, "dim", 0, dimensions_of(e, node));
  std::int64_t begin = e.integer(node, "start", 0), end = e.integer(node, "end", kEnd);
  if (node.target == "aten::narrow") end = begin + e.integer(node, "length", 0);
  e.set(node, e.slice(self_of(e, node), axis, begin, end, e.integer(node, "step", 1)));
}

void emit_index_select(E& e, const N& node) {
  const std::int64_t axis = e.dimension(node, "dim", 0, dimensions_of(e, node));
  e.set(node, e.onnx().node("Gather", {self_of(e, node), e.tensor(node, "index", at::kLong)},
                            {{"axis", axis}}));
}

// x[:, :, index]: one tensor of places in one dimension.
void emit_index(E& e, const N& node) {
  const GraphArgument* found = find_argument(node.arguments, "indices");
  using List = std::vector<std::optional<GraphReference>>;
  const auto* list = found != nullptr ? std::get_if<List>(found) : nullptr;
  const auto given = [](const auto& one) { return one.has_value(); };
  if (list == nullptr || std::ranges::count_if(*list, given) != 1) {
    e.refuse(node, "places in one dimension", node.target);
  }
  const auto one = std::ranges::find_if(*list, given);
  const at::ScalarType type = e.traced(**one).type;
  if (type != at::kLong && type != at::kInt) e.refuse(node, "places as integers", node.target);
  const std::int64_t axis = one - list->begin();
  e.set(node, e.onnx().node("Gather", {self_of(e, node), e.value(**one)}, {{"axis", axis}}));
}

void emit_flip(E& e, const N& node) {
  OnnxValue x = self_of(e, node);
  for (std::int64_t axis : e.integers(node, "dims")) {
    x = e.slice(x, axis, -1, std::numeric_limits<std::int64_t>::min(), -1);
  }
  e.set(node, x);
}

void emit_roll(E& e, const N& node) {
  const E::Sizes shifts = e.integers(node, "shifts"), axes = e.integers(node, "dims");
  if (shifts.size() != axes.size()) e.refuse(node, "a dimension for each shift", node.target);
  OnnxValue x = self_of(e, node);
  const std::vector<TracedSize>& sizes = e.traced(node, "self").sizes;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto count = static_cast<std::int64_t>(sizes.size());
    const std::int64_t axis = axes[i] < 0 ? axes[i] + count : axes[i];
    const TracedSize& along = sizes.at(static_cast<std::size_t>(axis));
    if (along.grows() || along.fixed == 0) e.refuse(node, "a roll within samples", node.target);
    const std::int64_t shift = ((shifts[i] % along.fixed) + along.fixed) % along.fixed;
    if (shift == 0) continue;
    const std::vector<OnnxValue> parts = {e.slice(x, axis, -shift, kEnd),
                                          e.slice(x, axis, 0, -shift)};
    x = e.onnx().node("Concat", parts, Attributes{{"axis", axis}});
  }
  e.set(node, x);
}

// Sizes before and behind, of the last dimensions first in PyTorch, of all before in ONNX.
void emit_pad(E& e, const N& node) {
  const E::Sizes given = e.integers(node, "pad");
  const std::size_t dimensions = dimensions_of(e, node);
  if (given.size() % 2 != 0 || given.size() / 2 > dimensions) {
    e.refuse(node, "two sizes for each dimension", node.target);
  }
  E::Sizes pads(2 * dimensions, 0);
  for (std::size_t i = 0; i < given.size() / 2; ++i) {
    pads[dimensions - 1 - i] = given[2 * i];
    pads[2 * dimensions - 1 - i] = given[2 * i + 1];
  }
  const std::string mode = e.text(node, "mode", "constant");
  const std::string name = mode == "replicate" ? "edge" : mode;
  if (name != "constant" && name != "edge" && name != "reflect") {
    e.refuse(node, "padding by a constant, the edge or reflection", mode);
  }
  const at::ScalarType type = e.traced(node, "self").type;
  std::vector<OnnxValue> inputs = {self_of(e, node), e.constant(pads)};
  if (name == "constant") inputs.push_back(e.scalar(e.number(node, "value", 0), type));
  e.set(node, e.onnx().node("Pad", inputs, Attributes{{"mode", name}}));
}

void emit_pixel_shuffle(E& e, const N& node) {
  e.set(node,
        e.onnx().node("DepthToSpace", {self_of(e, node)},
                      {{"blocksize", e.integer(node, "upscale_factor", 1)}, {"mode", "CRD"}}));
}

constexpr auto kShapes = std::to_array<std::pair<std::string_view, EmitOperator>>({
    {"aten::cat", emit_cat},
    {"aten::chunk", emit_parts},
    {"aten::constant_pad_nd", emit_pad},
    {"aten::expand", emit_expand},
    {"aten::expand_as", emit_expand},
    {"aten::flatten.using_ints", emit_reshape},
    {"aten::flip", emit_flip},
    {"aten::index.Tensor", emit_index},
    {"aten::index_select", emit_index_select},
    {"aten::narrow", emit_slice},
    {"aten::pad", emit_pad},
    {"aten::permute", emit_permute},
    {"aten::pixel_shuffle", emit_pixel_shuffle},
    {"aten::repeat", emit_repeat},
    {"aten::reshape", emit_reshape},
    {"aten::roll", emit_roll},
    {"aten::select.int", emit_select},
    {"aten::slice.Tensor", emit_slice},
    {"aten::split.Tensor", emit_parts},
    {"aten::split_with_sizes", emit_parts},
    {"aten::squeeze.dim", emit_reshape},
    {"aten::squeeze.dims", emit_reshape},
    {"aten::stack", emit_stack},
    {"aten::t", emit_transpose},
    {"aten::transpose.int", emit_transpose},
    {"aten::unbind.int", emit_parts},
    {"aten::unflatten.int", emit_reshape},
    {"aten::unsqueeze", emit_reshape},
    {"aten::view", emit_reshape},
});

}  // namespace

OnnxOperators onnx_shapes() { return kShapes; }

}  // namespace stoker

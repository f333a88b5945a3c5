#include "stoker/nn/graph/graph_summary.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <string_view>

#include "stoker/nn/graph/graph_layout.h"
#include "stoker/nn/graph/graph_nodes.h"

namespace stoker {
namespace {

using Count = std::optional<std::uint64_t>;
using Shape = std::vector<ClaimedSize>;

// Nothing where either is nothing or the product does not fit.
Count times(Count a, Count b) {
  std::uint64_t product = 0;
  if (!a || !b || __builtin_mul_overflow(*a, *b, &product)) return std::nullopt;
  return product;
}
Count plus(Count a, Count b) {
  std::uint64_t sum = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &sum)) return std::nullopt;
  return sum;
}

Count number_of_values(std::span<const ClaimedSize> shape) {
  Count count = 1;
  for (const ClaimedSize& size : shape) count = times(count, static_cast<std::uint64_t>(size.size));
  return count;
}

// Counts what a node multiplies, for the batch that the network was exported with.
class NodeCounter {
 public:
  explicit NodeCounter(const ExportedGraph& graph) : graph_(graph) {}

  [[nodiscard]] Count operator()(const GraphNode& node) const {
    const std::string_view name = node.target;
    if (name.starts_with("aten::conv")) {
      const Shape* weight = shape(node, "weight");  // (outputs, inputs, …)
      if (weight == nullptr || weight->empty()) return std::nullopt;
      return times(output(node), number_of_values(std::span(*weight).subspan(1)));
    }
    if (name == "aten::linear") return times(output(node), last(shape(node, "input")));
    if (name == "aten::mm" || name == "aten::bmm" || name == "aten::matmul") {
      return times(output(node), last(shape(node, "self")));
    }
    if (name == "aten::addmm") return times(output(node), last(shape(node, "mat1")));
    if (name == "aten::baddbmm") return times(output(node), last(shape(node, "batch1")));
    if (name == "aten::scaled_dot_product_attention") return attention(node);
    if (name == "aten::einsum") return std::nullopt;  // its text tells what is multiplied
    return 0;
  }

 private:
  [[nodiscard]] const Shape* shape(const GraphNode& node, std::string_view argument) const {
    const auto value = reference_argument(node.arguments, argument);
    if (!value || !graph_.values[value->value].shape) return nullptr;
    return &*graph_.values[value->value].shape;
  }
  [[nodiscard]] Count output(const GraphNode& node) const {
    if (node.outputs.empty() || node.outputs[0].values.empty()) return std::nullopt;
    const auto& made = graph_.values[node.outputs[0].values[0].value].shape;
    return made ? number_of_values(*made) : std::nullopt;
  }
  [[nodiscard]] static Count last(const Shape* shape, std::size_t from_end = 1) {
    if (shape == nullptr || shape->size() < from_end) return std::nullopt;
    return static_cast<std::uint64_t>((*shape)[shape->size() - from_end].size);
  }
  // Each query with each key, then each weight with each value.
  [[nodiscard]] Count attention(const GraphNode& node) const {
    const Shape* query = shape(node, "query");
    const Count keys = last(shape(node, "key"), 2);
    if (query == nullptr) return std::nullopt;
    return plus(times(number_of_values(*query), keys), times(output(node), keys));
  }

  const ExportedGraph& graph_;
};

// The shape for one image; nothing unless the first size is that of the batch.
std::optional<std::vector<std::int64_t>> shape_of_one(const std::optional<Shape>& shape,
                                                      std::int64_t batch) {
  if (!shape || shape->size() < 2) return std::nullopt;
  const ClaimedSize& first = shape->front();
  if (first.is_fixed && first.size != batch) return std::nullopt;
  std::vector<std::int64_t> sizes;
  for (const ClaimedSize& size : std::span(*shape).subspan(1)) {
    if (!size.is_fixed) return std::nullopt;
    sizes.push_back(size.size);
  }
  return sizes;
}

const std::optional<Shape>& images_shape(const ExportedGraph& graph) {
  return graph.values[images_of(graph).value].shape;
}

// Tensors of each stage, and the number of classes.
void add_tensors(GraphSummary& summary, const ExportedProgram& program, const GraphLayout& layout) {
  const std::vector<GraphInput>& inputs = program.graph().inputs;
  std::vector<const ExportedTensor*> tensors(inputs.size(), nullptr);
  std::size_t next = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].kind != GraphInput::Kind::kImages) tensors[i] = &program.tensors()[next++];
  }
  const auto add = [&](GraphSummary::Stage& stage, std::size_t place) {
    const ExportedTensor& tensor = *tensors[place];
    const std::uint64_t values = tensor.view.bytes.size() / dtype_bytes(tensor.view.dtype);
    (tensor.kind == GraphInput::Kind::kParameter ? stage.parameters : stage.buffers) += values;
  };
  for (std::size_t i = 0; i < layout.stages.size(); ++i) {
    for (const std::size_t place : layout.stages[i].inputs) add(summary.stages[i], place);
  }
  if (!layout.head) return;
  add(summary.stages.back(), layout.head->weight);
  add(summary.stages.back(), layout.head->bias);
  const TensorView& weight = tensors[layout.head->weight]->view;
  if (!weight.shape.empty()) summary.classes = weight.shape[0];
}

// Shapes and multiplications of each stage.
void add_nodes(GraphSummary& summary, const ExportedGraph& graph, const GraphLayout& layout) {
  const std::optional<Shape>& images = images_shape(graph);
  const std::int64_t batch = images && !images->empty() ? images->front().size : 0;
  const NodeCounter count(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    const bool in_head = layout.head && i >= layout.body_end;
    GraphSummary::Stage& stage =
        in_head ? summary.stages.back() : summary.stages[layout.node_stages[i]];
    stage.multiply_adds = plus(stage.multiply_adds, count(node));
    // What follows a stage in a module without tensors, such as a pool, is not its output.
    const bool is_own = in_head || stage_name(node.module + ".") == stage.name;
    if (!is_own || node.outputs.size() != 1 || node.outputs[0].values.size() != 1) continue;
    const auto& made = graph.values[node.outputs[0].values[0].value].shape;
    if (auto shape = shape_of_one(made, batch)) stage.output = std::move(shape);
  }
  for (GraphSummary::Stage& stage : summary.stages) {
    if (batch == 0) stage.multiply_adds.reset();
    if (stage.multiply_adds) *stage.multiply_adds /= static_cast<std::uint64_t>(batch);
  }
}

}  // namespace

std::uint64_t GraphSummary::parameters() const {
  std::uint64_t all = 0;
  for (const Stage& stage : stages) all += stage.parameters;
  return all;
}

std::uint64_t GraphSummary::buffers() const {
  std::uint64_t all = 0;
  for (const Stage& stage : stages) all += stage.buffers;
  return all;
}

std::optional<std::uint64_t> GraphSummary::multiply_adds() const {
  Count all = 0;
  for (const Stage& stage : stages) all = plus(all, stage.multiply_adds);
  return all;
}

GraphSummary summarise(const ExportedProgram& program, const std::filesystem::path& path) {
  const ExportedGraph& graph = program.graph();
  const GraphLayout layout = lay_out(graph, /*head=*/"", path.string());
  GraphSummary summary{.facts = parse_exported_facts(program.facts(), path)};
  for (const GraphLayout::Stage& stage : layout.stages) summary.stages.push_back({stage.name});
  if (layout.head) summary.stages.push_back({layout.head_name});
  add_tensors(summary, program, layout);
  add_nodes(summary, graph, layout);
  if (const auto& images = images_shape(graph); images && images->size() == 4) {
    for (const ClaimedSize& size : std::span(*images).subspan(1)) {
      summary.image.push_back(size.is_fixed ? size.size : 0);
    }
  }
  std::map<std::string, std::size_t> operators;
  for (const GraphNode& node : graph.nodes) ++operators[node.target];
  summary.operators.assign(operators.begin(), operators.end());
  std::ranges::stable_sort(summary.operators, std::greater(),
                           [](const auto& one) { return one.second; });
  return summary;
}

}  // namespace stoker

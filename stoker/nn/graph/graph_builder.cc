#include "stoker/nn/graph/graph_builder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "stoker/nn/graph/graph_nodes.h"

namespace stoker {
namespace {

using Sizes = std::vector<std::int64_t>;

}  // namespace

GraphBuilder::GraphBuilder() : images_(input(GraphInput::Kind::kImages, "images", {})) {}

GraphReference GraphBuilder::value(const std::string& name, bool is_tensor) {
  const auto number = static_cast<std::uint32_t>(built_.graph.values.size());
  built_.graph.values.push_back({.name = name, .is_tensor = is_tensor});
  return {number};
}

GraphReference GraphBuilder::input(GraphInput::Kind kind, const std::string& name,
                                   GraphTensor tensor) {
  const GraphReference made = value(name, true);
  built_.graph.inputs.push_back(
      {.kind = kind, .value = made, .name = kind == GraphInput::Kind::kImages ? "" : name});
  built_.tensors.push_back(std::move(tensor));
  return made;
}

GraphReference GraphBuilder::parameter(const std::string& name, GraphTensor tensor) {
  return input(GraphInput::Kind::kParameter, name, std::move(tensor));
}

GraphReference GraphBuilder::buffer(const std::string& name, GraphTensor tensor) {
  return input(GraphInput::Kind::kBuffer, name, std::move(tensor));
}

GraphReference GraphBuilder::call(const std::string& target, Arguments arguments) {
  const bool is_tensor = target != "aten::sym_size.int";
  const GraphReference made = value(fmt::format("value_{}", built_.graph.values.size()), is_tensor);
  built_.graph.nodes.push_back({.target = target,
                                .arguments = std::move(arguments),
                                .outputs = {{.is_list = false, .values = {made}}},
                                .module = module_});
  return made;
}

std::vector<GraphReference> GraphBuilder::call_list(const std::string& target, Arguments arguments,
                                                    std::size_t count) {
  GraphOutput list{.is_list = true, .values = {}};
  for (std::size_t i = 0; i < count; ++i) {
    list.values.push_back(value(fmt::format("value_{}", built_.graph.values.size()), true));
  }
  built_.graph.nodes.push_back(
      {.target = target, .arguments = std::move(arguments), .outputs = {list}, .module = module_});
  return list.values;
}

std::string GraphBuilder::named(std::string ours, std::string theirs) {
  built_.other_names.push_back({ours, std::move(theirs)});
  return ours;
}

GraphReference GraphBuilder::convolution(const std::string& name, GraphReference x,
                                         const ConvolutionShape& shape) {
  module_ = name;
  const GraphReference weight =
      parameter(name + ".weight",
                {.shape = {shape.outputs, shape.inputs / shape.groups, shape.side, shape.side},
                 .initial = shape.initial});
  GraphArgument bias = GraphNone{};
  if (shape.bias) {
    bias = parameter(name + ".bias", {.shape = {shape.outputs}, .initial = shape.bias_initial});
  }
  const std::int64_t padding = shape.padding.value_or(shape.side / 2);
  return call("aten::conv2d", {{"input", x},
                               {"weight", weight},
                               {"bias", bias},
                               {"stride", Sizes{shape.stride, shape.stride}},
                               {"padding", Sizes{padding, padding}},
                               {"dilation", Sizes{1, 1}},
                               {"groups", shape.groups}});
}

GraphReference GraphBuilder::batch_norm(const std::string& name, GraphReference x,
                                        const BatchNormShape& shape) {
  module_ = name;
  const auto tensor = [&](double start) {
    return GraphTensor{.shape = {shape.channels}, .initial = {.value = start}};
  };
  const GraphReference weight = parameter(name + ".weight", tensor(1)),
                       bias = parameter(name + ".bias", tensor(0)),
                       mean = buffer(name + ".running_mean", tensor(0)),
                       variance = buffer(name + ".running_var", tensor(1));
  if (shape.counts) {
    const GraphReference count = buffer(name + ".num_batches_tracked", {.dtype = DType::kI64});
    call("aten::add_.Tensor", {{"self", count}, {"other", std::int64_t{1}}});
  }
  return call("aten::batch_norm", {{"input", x},
                                   {"weight", weight},
                                   {"bias", bias},
                                   {"running_mean", mean},
                                   {"running_var", variance},
                                   {"training", true},
                                   {"momentum", shape.momentum},
                                   {"eps", shape.epsilon},
                                   {"cudnn_enabled", true}});
}

GraphReference GraphBuilder::linear(const std::string& name, GraphReference x, std::int64_t inputs,
                                    std::int64_t outputs, InitialValues initial, bool bias) {
  module_ = name;
  const GraphReference weight =
      parameter(name + ".weight", {.shape = {outputs, inputs}, .initial = initial});
  GraphArgument offset = GraphNone{};
  if (bias) offset = parameter(name + ".bias", {.shape = {outputs}});
  return call("aten::linear", {{"input", x}, {"weight", weight}, {"bias", offset}});
}

GraphReference GraphBuilder::layer_norm(const std::string& name, GraphReference x,
                                        std::int64_t channels, double epsilon) {
  module_ = name;
  const GraphReference weight =
      parameter(name + ".weight", {.shape = {channels}, .initial = {.value = 1}});
  const GraphReference bias = parameter(name + ".bias", {.shape = {channels}});
  return call("aten::layer_norm", {{"input", x},
                                   {"normalized_shape", Sizes{channels}},
                                   {"weight", weight},
                                   {"bias", bias},
                                   {"eps", epsilon}});
}

GraphReference GraphBuilder::activation(const std::string& target, GraphReference x) {
  return call(target, {{"self", x}});
}

GraphReference GraphBuilder::add(GraphReference a, GraphReference b) {
  return call("aten::add.Tensor", {{"self", a}, {"other", b}});
}

GraphReference GraphBuilder::multiply(GraphReference a, GraphReference b) {
  return call("aten::mul.Tensor", {{"self", a}, {"other", b}});
}

GraphReference GraphBuilder::permute(GraphReference x, std::vector<std::int64_t> dimensions) {
  return call("aten::permute", {{"self", x}, {"dims", std::move(dimensions)}});
}

GraphReference GraphBuilder::reshape(GraphReference x, std::vector<GraphSize> sizes) {
  return call("aten::reshape", {{"self", x}, {"shape", std::move(sizes)}});
}

GraphReference GraphBuilder::flatten(GraphReference x, std::int64_t first_dimension) {
  return call("aten::flatten.using_ints", {{"self", x}, {"start_dim", first_dimension}});
}

GraphReference GraphBuilder::max_pool(GraphReference x, const Pool& pool) {
  return call("aten::max_pool2d", {{"self", x},
                                   {"kernel_size", Sizes{pool.side, pool.side}},
                                   {"stride", Sizes{pool.stride, pool.stride}},
                                   {"padding", Sizes{pool.padding, pool.padding}}});
}

GraphReference GraphBuilder::clamp(GraphReference x, double low, double high) {
  return call("aten::hardtanh", {{"self", x}, {"min_val", low}, {"max_val", high}});
}

GraphReference GraphBuilder::average_pool(GraphReference x, std::int64_t height,
                                          std::int64_t width) {
  return call("aten::adaptive_avg_pool2d", {{"self", x}, {"output_size", Sizes{height, width}}});
}

GraphReference GraphBuilder::drop_path(GraphReference x, double rate, std::size_t dimensions) {
  if (rate <= 0) return x;
  std::vector<GraphSize> sizes(dimensions, std::int64_t{1});
  // Of x itself: a value that lives from the images on would be one more where maps are read.
  sizes[0] = call("aten::sym_size.int", {{"self", x}, {"dim", std::int64_t{0}}});
  const double kept = 1 - rate;
  const GraphReference empty = call("aten::new_empty", {{"self", x}, {"size", sizes}});
  const GraphReference drawn = call("aten::bernoulli_.float", {{"self", empty}, {"p", kept}});
  const GraphReference mask = call("aten::div_.Tensor", {{"self", drawn}, {"other", kept}});
  return multiply(x, mask);
}

GraphReference GraphBuilder::dropout(GraphReference x, double rate) {
  if (rate <= 0) return x;
  return call("aten::dropout", {{"input", x}, {"p", rate}, {"train", true}});
}

GraphReference GraphBuilder::batch_size() {
  if (!batch_size_) {
    batch_size_ = call("aten::sym_size.int", {{"self", images_}, {"dim", std::int64_t{0}}});
  }
  return *batch_size_;
}

GraphReference GraphBuilder::append(const ExportedGraph& graph, std::size_t end, GraphReference x,
                                    GraphReference wanted) {
  std::vector<std::optional<GraphReference>> own(graph.values.size());
  const auto renamed = [&](GraphReference& one) {
    if (!own[one.value]) {  // an input: nodes define theirs before they are used
      const auto found = std::ranges::find(graph.inputs, one, &GraphInput::value);
      const bool images = found->kind == GraphInput::Kind::kImages;
      own[one.value] = images ? x : input(found->kind, found->name, {});
    }
    one = *own[one.value];
  };
  for (std::size_t i = 0; i < end; ++i) {
    GraphNode node = graph.nodes[i];
    visit_references(node, renamed);
    for (GraphOutput& output : node.outputs) {
      for (GraphReference& one : output.values) {
        const GraphValueInfo& info = graph.values[one.value];
        const GraphReference made =
            value(fmt::format("value_{}", built_.graph.values.size()), info.is_tensor);
        own[one.value] = made;
        one = made;
      }
    }
    built_.graph.nodes.push_back(std::move(node));
  }
  renamed(wanted);
  return wanted;
}

BuiltGraph GraphBuilder::finish(GraphReference output) {
  built_.graph.output = output;
  BuiltGraph made = std::move(built_);
  *this = GraphBuilder();
  return made;
}

}  // namespace stoker

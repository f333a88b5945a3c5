#include "stoker/nn/graph/exported_network.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/nn/graph/bounded_memory.h"
#include "stoker/nn/graph/exported_facts.h"
#include "stoker/nn/graph/first_convolution.h"
#include "stoker/nn/graph/graph_builder.h"
#include "stoker/nn/graph/graph_nodes.h"
#include "stoker/nn/layers/autocast.h"
#include "stoker/nn/layers/initial_weights.h"
#include "stoker/nn/layers/multiply_adds.h"
#include "stoker/nn/layers/vector_math.h"
#include "stoker/nn/tensor_views.h"

namespace stoker {
namespace {

using Shapes = std::vector<std::vector<std::int64_t>>;
using Kind = GraphInput::Kind;

[[noreturn]] void refuse_network(const std::string& file, std::string expected, std::string found,
                                 std::string hint = {}) {
  throw Error({.what = "the exported network does not fit the data",
               .path = file,
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = std::move(hint)});
}

// A tensor as training has it: parameters are leaves that autograd fills.
at::Tensor as_input(const at::Tensor& tensor, Kind kind) {
  const bool learns = kind == Kind::kParameter && tensor.is_floating_point();
  return learns ? tensor.detach().requires_grad_(true) : tensor;
}

at::Tensor weight_of(const GraphNode& node, const ExportedGraph& graph,
                     const std::vector<at::Tensor>& tensors) {
  const auto place = weight_place(node, graph);
  return place ? tensors[*place] : at::Tensor();
}

// Channels last is faster on CPUs (layers.h). But oneDNN of PyTorch 2.15 writes beyond its memory
// there when it differentiates convolutions of 1x1 with a stride and 2 to 15 input channels, such
// as the first one of RepVGG: a network that has one keeps PyTorch's order.
at::MemoryFormat choose_memory_format(const ExportedGraph& graph,
                                      const std::vector<at::Tensor>& tensors) {
  const auto is_harmful = [&](const GraphNode& node) {
    const GraphArgument* stride = find_argument(node.arguments, "stride");
    if (node.target != "aten::conv2d" || stride == nullptr) return false;
    const auto* strides = std::get_if<std::vector<std::int64_t>>(stride);
    const bool strided =
        strides == nullptr || std::ranges::any_of(*strides, [](auto s) { return s > 1; });
    const at::Tensor weight = weight_of(node, graph, tensors);
    return strided && weight.defined() && weight.dim() == 4 && weight.size(1) > 1 &&
           weight.size(1) < 16 && weight.size(2) == 1 && weight.size(3) == 1;
  };
  return std::ranges::any_of(graph.nodes, is_harmful) ? at::MemoryFormat::Contiguous
                                                      : at::MemoryFormat::ChannelsLast;
}

// Whether a graph's parameters have a type that training knows.
void check_types(const ExportedGraph& graph, const std::vector<at::Tensor>& tensors,
                 const std::string& file) {
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    if (graph.inputs[i].kind != Kind::kParameter || tensors[i].scalar_type() == at::kFloat)
      continue;
    refuse_network(
        file, "float32 weights",
        fmt::format("{} of {}", graph.inputs[i].name, at::toString(tensors[i].scalar_type())));
  }
}

Linear checked_head(const at::Tensor& weight, const at::Tensor& bias, const std::string& file) {
  const bool fits = weight.dim() == 2 && bias.dim() == 1 && weight.size(0) == bias.size(0) &&
                    weight.scalar_type() == at::kFloat && bias.scalar_type() == at::kFloat;
  if (!fits)
    refuse_network(file, "a matrix and a vector of its rows as the head", "something else");
  return {weight, bias};
}

// The graph's own; nullopt where it ends with features.
std::optional<Linear> head_of(const GraphLayout& layout, const std::vector<at::Tensor>& tensors,
                              const std::string& file) {
  if (!layout.head) return std::nullopt;
  return checked_head(tensors[layout.head->weight], tensors[layout.head->bias], file);
}

// The first convolution of images, whose weights follow the number of channels.
void fit_channels(const ExportedGraph& graph, std::vector<at::Tensor>& tensors,
                  std::int64_t channels) {
  for (const std::size_t place : first_convolutions(graph)) {
    if (tensors[place].dim() != 4 || tensors[place].size(1) == channels) continue;
    tensors[place] = as_input(with_channels(tensors[place], channels), Kind::kParameter);
  }
}

// Where the places of an image lie in a map.
struct PlacesOfMap {
  std::int64_t rows = 0, columns = 0;  // 0: nowhere
  std::int64_t channels = 1;           // the dimension
  std::int64_t prefix = 0;             // tokens in front of them that stand for no place
};
// In rows as the image is wide and high.
PlacesOfMap places_of_tokens(std::int64_t tokens, const ImageShape& image) {
  constexpr std::int64_t kMostOthers = 8;  // class token, distillation, registers
  for (std::int64_t prefix = 0; prefix <= std::min(kMostOthers, tokens - 1); ++prefix) {
    const std::int64_t places = tokens - prefix;
    const auto rows = static_cast<std::int64_t>(std::llround(
        std::sqrt(static_cast<double>(places) * image.height / static_cast<double>(image.width))));
    if (rows <= 1 || places % rows != 0) continue;
    const std::int64_t columns = places / rows;
    if (columns > 1 && rows * image.width == columns * image.height)
      return {.rows = rows, .columns = columns, .channels = 2, .prefix = prefix};
  }
  return {};
}
// `width`: of the head's features. Channels come first, or last as Swin has them.
PlacesOfMap places_of(const std::vector<std::int64_t>& shape, const ImageShape& image,
                      std::int64_t width) {
  if (shape.size() == 3) return places_of_tokens(shape[1], image);
  if (shape.size() != 4) return {};
  // Sides are rounded to whole places, so one more or less fits too.
  const auto fits = [&](std::int64_t rows, std::int64_t columns) {
    return rows * columns > 1 && std::abs(rows * image.width - columns * image.height) <=
                                     std::max(image.width, image.height);
  };
  const bool first = fits(shape[2], shape[3]), last = fits(shape[1], shape[2]);
  if (last && (!first || (shape[3] == width && shape[1] != width)))
    return {.rows = shape[1], .columns = shape[2], .channels = 3};
  return first ? PlacesOfMap{.rows = shape[2], .columns = shape[3]} : PlacesOfMap{};
}

at::Tensor drawn_tensor(const GraphTensor& tensor, std::uint64_t seed, std::uint64_t number) {
  switch (tensor.initial.kind) {
    case InitialValues::Kind::kUniform:
      return uniform_weights(tensor.shape, tensor.initial.value, seed, number);
    case InitialValues::Kind::kNormal:
      return normal_weights(tensor.shape, tensor.initial.value, seed, number);
    case InitialValues::Kind::kConstant:
      break;
  }
  return at::full(tensor.shape, tensor.initial.value, scalar_type_of(tensor.dtype));
}

// How many values that are there after each node are used by later ones.
std::vector<std::size_t> live_values(const ExportedGraph& graph, std::size_t end) {
  const std::vector<std::size_t> last = last_uses(graph, end);
  std::vector<std::ptrdiff_t> change(end + 1, 0);
  const auto live_from = [&](std::size_t begin, GraphReference value) {
    ++change[begin];
    --change[last[value.value]];
  };
  if (last[images_of(graph).value] < end) live_from(0, images_of(graph));
  for (std::size_t i = 0; i < end; ++i) {
    for (const GraphOutput& output : graph.nodes[i].outputs) {
      for (const GraphReference& value : output.values) live_from(i, value);
    }
  }
  std::vector<std::size_t> live(end, 0);
  std::ptrdiff_t now = 0;
  for (std::size_t i = 0; i < end; ++i) {
    now += change[i];
    live[i] = static_cast<std::size_t>(now);
  }
  return live;
}

}  // namespace

ExportedNetwork::ExportedNetwork(const std::string& architecture, const ModelInput& input,
                                 Parts parts, const std::string& file)
    : AutogradModel(architecture, input),
      parts_(std::move(parts)),
      executor_(parts_.graph, parts_.layout.node_stages, file),
      images_(images_of(parts_.graph)),
      memory_format_(choose_memory_format(parts_.graph, parts_.tensors)) {
  for (std::size_t i = 0; i < parts_.tensors.size(); ++i) {
    at::Tensor& tensor = parts_.tensors[i];
    if (!tensor.defined() || tensor.dim() != 4) continue;
    tensor = as_input(tensor.detach().contiguous(memory_format_), parts_.graph.inputs[i].kind);
  }
  try_out(file);
}

GraphValues ExportedNetwork::input_values() const {
  GraphValues values(parts_.graph.values.size());
  for (std::size_t i = 0; i < parts_.graph.inputs.size(); ++i) {
    const GraphInput& input = parts_.graph.inputs[i];
    if (input.kind != Kind::kImages) values[input.value.value] = parts_.tensors[i];
  }
  return values;
}

// Once with two black images in use, noting every shape.
void ExportedNetwork::try_out(const std::string& file) {
  constexpr std::int64_t kImages = 2;
  const ImageShape& image = input().image;
  const at::NoGradGuard no_grad;
  const BoundedMemory bounded(most_trial_bytes());
  GraphValues values = input_values();
  values[images_.value] =
      at::zeros({kImages, image.channels, image.height, image.width}).contiguous(memory_format_);
  Shapes shapes(values.size());
  const GraphMode mode{.samples = kImages};
  const std::size_t end = parts_.layout.body_end;
  std::size_t node = 0;
  try {
    multiply_adds_ = multiply_adds_of([&] {
      for (; node < end; ++node) {
        executor_.run(values, node, node + 1, mode);
        for (const GraphOutput& output : parts_.graph.nodes[node].outputs) {
          for (const GraphReference& value : output.values) {
            const c10::IValue& made = values[value.value];
            if (made.isTensor()) shapes[value.value] = made.toTensor().sizes().vec();
          }
        }
      }
    });
  } catch (const c10::Error& error) {
    const GraphNode& failed = parts_.graph.nodes[node];
    const std::string text = error.what_without_backtrace();
    refuse_network(
        file, fmt::format("a network that takes images of {}", shape_text(image)),
        fmt::format("LibTorch's error in {} of {}: {}", failed.target, failed.module,
                    text.substr(0, text.find('\n'))),
        "Networks of tokens take images of the size that they were exported for: see `val_aa` "
        "and `aa`, or export it for this size");
  }
  const std::vector<std::int64_t>& features = shapes[parts_.layout.features.value];
  if (!parts_.head && features.size() == 2) {
    LayerSeed layers{.seed = parts_.seed};
    parts_.head = Linear(features[1], input().classes, layers);
  }
  const std::int64_t width = parts_.head ? parts_.head->weight.size(1) : 0;
  if (features != std::vector<std::int64_t>{kImages, width}) {
    refuse_network(file,
                   width > 0 ? fmt::format("(samples, {}) in front of the head", width)
                             : "(samples, features)",
                   fmt::format("({})", fmt::join(features, ", ")),
                   "Name the head's layer with `head`");
  }
  multiply_adds_ = multiply_adds_ / kImages + parts_.head->weight.numel();
  find_maps(shapes);
}

// The last value that has places of the image. Where a class token is read, that may have looked
// at the places in any block, and later blocks tell nothing: there it is the values of all blocks.
void ExportedNetwork::find_maps(const Shapes& shapes) {
  const std::size_t end = parts_.layout.body_end;
  maps_.clear();
  map_layout_ = {};
  std::vector<std::int64_t> found;
  const std::vector<std::size_t> live = live_values(parts_.graph, end);
  const std::int64_t width = parts_.head->weight.size(1);
  for (std::size_t i = end; i-- > 0;) {
    const auto& outputs = parts_.graph.nodes[i].outputs;
    const bool single = outputs.size() == 1 && outputs[0].values.size() == 1 && live[i] == 1;
    if (!single) continue;
    const GraphReference value = outputs[0].values[0];
    const std::vector<std::int64_t>& shape = shapes[value.value];
    if (maps_.empty()) {
      const PlacesOfMap places = places_of(shape, input().image, width);
      if (places.rows == 0) continue;
      const bool tokens = shape.size() == 3;
      map_layout_ = {.channels = places.channels,
                     .rows = tokens ? places.rows : 0,
                     .columns = tokens ? places.columns : 0,
                     .first_token = places.prefix};
      found = shape;
    }
    if (shape == found) maps_.push_back({.end = i + 1, .value = value});
    if (map_layout_.first_token == 0) break;
  }
  std::ranges::reverse(maps_);
  cut_ = maps_.empty() ? Map{.end = end, .value = parts_.layout.features} : maps_.back();
}

std::vector<at::Tensor> ExportedNetwork::activation_maps(const at::Tensor& x) const {
  std::vector<at::Tensor> maps;
  if (maps_.empty()) return AutogradModel::activation_maps(x);
  {
    const at::NoGradGuard no_grad;
    const Autocast autocast(device(), precision());
    maps.push_back(run(x, images_, 0, maps_[0].end, maps_[0].value, {})
                       .to(at::kFloat)
                       .contiguous()
                       .requires_grad_(true));
  }
  const at::AutoGradMode grad(true);
  for (std::size_t i = 1; i < maps_.size(); ++i) {
    const Map &from = maps_[i - 1], &to = maps_[i];
    maps.push_back(run(maps.back().clone(), from.value, from.end, to.end, to.value, {}));
  }
  return maps;
}

GraphMode ExportedNetwork::mode_of(const StageContext& context, std::int64_t samples) const {
  return {.samples = samples,
          .draw = context.draw_key,
          .first_training = context.training ? frozen() : GraphMode::kNone,
          .trains_all_norms = trains_frozen_norms()};
}

at::Tensor ExportedNetwork::run(const at::Tensor& x, GraphReference from, std::size_t begin,
                                std::size_t end, GraphReference to,
                                const StageContext& context) const {
  GraphValues values = input_values();
  values[from.value] = x;
  executor_.run(values, begin, end, mode_of(context, x.size(0)));
  return values[to.value].toTensor();
}

at::Tensor ExportedNetwork::run_body(const at::Tensor& x, const StageContext& context) const {
  const at::AutoGradMode grad(context.training && at::GradMode::is_enabled());
  return run(x, images_, 0, cut_.end, cut_.value, context);
}

at::Tensor ExportedNetwork::pool_map(const at::Tensor& map, const StageContext& context) const {
  if (cut_.end == parts_.layout.body_end) return map;
  return run(map, cut_.value, cut_.end, parts_.layout.body_end, parts_.layout.features, context);
}

std::vector<ModelStage> ExportedNetwork::stages() const {
  std::vector<ModelStage> all;
  for (const GraphLayout::Stage& stage : parts_.layout.stages) {
    ModelStage& tensors = all.emplace_back(ModelStage{stage.name, {}});
    for (const std::size_t place : stage.inputs) {
      const GraphInput& input = parts_.graph.inputs[place];
      auto& list = input.kind == Kind::kParameter ? tensors.parameters : tensors.buffers;
      list.push_back({input.name, parts_.tensors[place]});
    }
  }
  const std::string& name = parts_.layout.head_name;
  parts_.head->append_parameters(name, all.emplace_back(ModelStage{name, {}}).parameters);
  return all;
}

void ExportedNetwork::move_tensors(const at::Device& device) {
  for (std::size_t i = 0; i < parts_.tensors.size(); ++i) {
    at::Tensor& tensor = parts_.tensors[i];
    if (!tensor.defined()) continue;
    tensor = tensor.detach().to(device).requires_grad_(tensor.requires_grad());
  }
  parts_.head->to(device);
  executor_.to(device);
}

GraphReference ExportedNetwork::append_features(GraphBuilder& graph, GraphReference x) const {
  return graph.append(parts_.graph, parts_.layout.body_end, x, parts_.layout.features);
}

bool is_exported_network(std::string_view architecture) { return architecture.ends_with(".pt2"); }

std::unique_ptr<Model> load_exported_network(const std::filesystem::path& path,
                                             const ModelInput& input, std::uint64_t seed,
                                             const std::string& head) {
  settle_vector_math();
  const ExportedProgram program(path);
  const std::string file = path.string();
  ExportedGraph graph = program.graph();
  GraphLayout layout = lay_out(graph, head, file);
  std::vector<at::Tensor> tensors(graph.inputs.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    if (graph.inputs[i].kind == Kind::kImages) continue;
    tensors[i] = as_input(tensor_of(program.tensors()[next++].view), graph.inputs[i].kind);
  }
  fit_channels(graph, tensors, input.image.channels);
  check_types(graph, tensors, file);
  std::optional<Linear> own_head = head_of(layout, tensors, file);
  if (own_head && own_head->weight.size(0) != input.classes) {
    LayerSeed layers{.seed = seed};
    own_head = Linear(own_head->weight.size(1), input.classes, layers);
  }
  const ExportedFacts facts = parse_exported_facts(program.facts(), path);
  return std::make_unique<ExportedNetwork>(
      kGraphPrefix + facts.name, input,
      ExportedNetwork::Parts{std::move(graph), std::move(layout), std::move(tensors),
                             std::move(own_head), seed, head},
      file);
}

std::unique_ptr<Model> make_built_network(const std::string& architecture, BuiltGraph built,
                                          const ModelInput& input, std::uint64_t seed) {
  GraphLayout layout = lay_out(built.graph, /*head=*/{}, architecture);
  std::vector<at::Tensor> tensors(built.tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Kind kind = built.graph.inputs[i].kind;
    if (kind != Kind::kImages) tensors[i] = as_input(drawn_tensor(built.tensors[i], seed, i), kind);
  }
  check_types(built.graph, tensors, architecture);
  std::optional<Linear> head = head_of(layout, tensors, architecture);
  return std::make_unique<ExportedNetwork>(
      architecture, input,
      ExportedNetwork::Parts{std::move(built.graph), std::move(layout), std::move(tensors),
                             std::move(head), seed},
      architecture);
}

std::unique_ptr<Model> make_exported_network(const std::string& architecture,
                                             const NetworkGraph& source, const ModelInput& input,
                                             std::span<const TensorView> views,
                                             const std::string& file) {
  settle_vector_math();
  ExportedGraph graph = parse_exported_graph(source.text, file);
  GraphLayout layout = lay_out(graph, source.head, file);
  std::map<std::string_view, const TensorView*> by_name;
  for (const TensorView& view : views) by_name[view.name] = &view;
  const auto read = [&](const std::string& name) {
    const auto found = by_name.find(name);
    if (found != by_name.end()) return tensor_of(*found->second);
    throw Error({.what = "the model file lacks a tensor of its network",
                 .path = file,
                 .expected = name,
                 .found = "none"});
  };
  std::vector<at::Tensor> tensors(graph.inputs.size());
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const GraphInput& one = graph.inputs[i];
    if (one.kind != Kind::kImages) tensors[i] = as_input(read(one.name), one.kind);
  }
  check_types(graph, tensors, file);
  Linear own_head =
      checked_head(read(layout.head_name + ".weight"), read(layout.head_name + ".bias"), file);
  return std::make_unique<ExportedNetwork>(
      architecture, input,
      ExportedNetwork::Parts{std::move(graph), std::move(layout), std::move(tensors),
                             std::move(own_head), 0, source.head},
      file);
}

}  // namespace stoker

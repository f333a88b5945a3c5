#include "stoker/nn/inference/inference_network.h"

#include <algorithm>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/cpu/Utils.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"
#include "stoker/nn/graph/graph_nodes.h"
#include "stoker/nn/graph/inference_graph.h"
#include "stoker/nn/graph/trace_values.h"
#include "stoker/nn/inference/fold_norms.h"
#include "stoker/nn/inference/fuse_layers.h"
#include "stoker/nn/inference/packed_layer.h"
#include "stoker/nn/int8/int8_layer.h"
#include "stoker/nn/layers/vector_math.h"
#include "stoker/nn/model_file.h"

namespace stoker {
namespace {

// Below glibc's limit of 32 MB for memory that it keeps for the next tensor; larger ones come from
// the system each time, page by page.
constexpr std::int64_t kPartBytes = 28 << 20;
constexpr std::int64_t kMostImages = 64;

std::vector<std::int64_t> sizes_for(const TracedValue& value, std::int64_t images) {
  std::vector<std::int64_t> sizes;
  for (const TracedSize& size : value.sizes) sizes.push_back(size.fixed + images * size.per_sample);
  return sizes;
}

// A power of two, so that usual batches have whole parts.
std::int64_t images_of_part(const std::vector<TracedValue>& values, std::int64_t bytes_of_number) {
  std::int64_t most = 1;
  for (const TracedValue& value : values) {
    if (!value.is_tensor || !value.depends_on_images) continue;
    std::int64_t bytes = bytes_of_number;
    for (const std::int64_t size : sizes_for(value, 1)) bytes *= size;
    most = std::max(most, bytes);
  }
  std::int64_t images = 1;
  while (images < kMostImages && 2 * images * most <= kPartBytes) images *= 2;
  return images;
}

at::Tensor in_precision(const at::Tensor& tensor, Precision precision) {
  const bool narrows = precision == Precision::kBfloat16 && tensor.scalar_type() == at::kFloat;
  return narrows ? tensor.to(at::kBFloat16) : tensor;
}

bool has_amx_int8() {
  const auto capabilities = at::cpu::get_cpu_capabilities();
  const auto found = capabilities.find("amx_int8");
  return found != capabilities.end() && found->second.isBool() && found->second.toBool();
}

// Of all layers, which become nodes of their own.
std::map<std::size_t, GraphKernel> int8_kernels(InferenceGraph& network,
                                                const std::vector<TracedValue>& values,
                                                const EngineOptions& options, std::int64_t part) {
  if (!has_int8_layers()) {
    throw Error({.what = "this LibTorch has no layers of int8 for this CPU",
                 .hint = "`engine` openvino and onnxruntime have their own"});
  }
  STOKER_INVARIANT(options.calibration != nullptr, "int8 without a calibration");
  const QuantisedValues quantised = quantised_values(network, values, *options.calibration);
  FusedGraph fused = fuse_layers(std::move(network), values, is_int8_activation);
  const std::vector<bool> bytes = values_in_bytes(fused, quantised);
  const auto form = [&](GraphReference value) {
    return bytes[value.value] ? Int8Form(quantised.at(value.value)) : Int8Form();
  };
  std::map<std::size_t, GraphKernel> kernels;
  for (const auto& [place, layer] : fused.layers) {
    const GraphReference input = *reference_argument(layer.layer.arguments, "input");
    kernels[place] = int8_layer(
        layer, tensor_argument(fused.network, layer.layer, "weight"),
        tensor_argument(fused.network, layer.layer, "bias"), sizes_for(values[input.value], part),
        {.input = quantised.at(input.value),
         .input_is_bytes = bytes[input.value],
         .added = layer.added ? form(*layer.added) : Int8Form(),
         .result = form(fused.network.graph.nodes[place].outputs[0].values[0])});
  }
  for (std::size_t i = 0; i < fused.network.graph.nodes.size(); ++i) {
    const GraphNode& node = fused.network.graph.nodes[i];
    const bool pools = byte_pool(node) && bytes[node.outputs[0].values[0].value];
    if (pools) kernels[i] = int8_pool(node);
  }
  network = std::move(fused.network);
  return kernels;
}

// The last node is the head. Throws Error where it is none.
void cut_head(ExportedGraph& graph) {
  const GraphNode& head = graph.nodes.back();
  std::optional<GraphReference> input;
  if (head.target == "aten::linear") input = reference_argument(head.arguments, "input");
  if (head.target == "aten::addmm") input = reference_argument(head.arguments, "mat1");
  if (!input || head.outputs[0].values[0].value != graph.output.value) {
    throw Error({.what = "the features of this network cannot be computed alone",
                 .expected = "a linear layer at its end",
                 .found = head.target});
  }
  graph.output = *input;
  graph.nodes.pop_back();
}

InferenceGraph graph_of(const Model& model, InferenceNetwork::Output output) {
  InferenceGraph network = with_folded_norms(inference_graph(model, ModelCard{}));
  if (output == InferenceNetwork::Output::kFeatures) cut_head(network.graph);
  for (at::Tensor& tensor : network.tensors) {
    if (tensor.defined() && tensor.dim() == 4) {
      tensor = tensor.contiguous(at::MemoryFormat::ChannelsLast);
    }
  }
  return network;
}

}  // namespace

bool is_worth_inference(const Model& model) {
  constexpr std::int64_t kWorthMultiplyAdds = 20'000'000;  // of one image
  return model.device().is_cpu() && model.has_graph() &&
         model.multiply_adds() >= kWorthMultiplyAdds;
}

InferenceNetwork::InferenceNetwork(const Model& model, const EngineOptions& options, Output output)
    : input_(model.input()), options_(options), streams_(std::max(1, options.threads)) {
  settle_vector_math();
  const at::NoGradGuard no_grad;
  InferenceGraph network = graph_of(model, output);
  const std::vector<TracedValue> values = trace_values(network, input_.image);
  outputs_ = values[network.graph.output.value].sizes.at(1).fixed;
  layers_divide_ = options.precision != Precision::kInt8 || !has_amx_int8();
  part_ = images_of_part(values, options.precision == Precision::kBfloat16 ? 2 : 4);
  // Weights lie as parts of this size want them; others would have them put in order each time.
  if (options.batch_size > 0) part_ = std::min(part_, options.batch_size);
  for (at::Tensor& tensor : network.tensors) {
    if (tensor.defined()) tensor = in_precision(tensor, options.precision);
  }
  std::map<std::size_t, GraphKernel> kernels;
  if (options.precision == Precision::kInt8) {
    kernels = int8_kernels(network, values, options, part_);
  } else if (has_packed_layers()) {
    FusedGraph fused = fuse_layers(std::move(network), values);
    network = std::move(fused.network);
    for (const auto& [place, layer] : fused.layers) {
      const GraphReference input = *reference_argument(layer.layer.arguments, "input");
      kernels[place] = packed_layer(layer, tensor_argument(network, layer.layer, "weight"),
                                    tensor_argument(network, layer.layer, "bias"),
                                    sizes_for(values[input.value], part_));
    }
  }
  executor_.emplace(network.graph, std::vector<std::size_t>(network.graph.nodes.size(), 0),
                    "the network", std::move(kernels));
  // Of weights that layers hold, nothing else is kept.
  const std::vector<std::size_t> uses = count_uses(network.graph);
  inputs_.resize(network.graph.values.size());
  for (std::size_t i = 0; i < network.graph.inputs.size(); ++i) {
    const std::uint32_t value = network.graph.inputs[i].value.value;
    if (network.tensors[i].defined() && uses[value] > 0)
      inputs_[value] = network.tensors[i].clone();
  }
  images_ = images_of(network.graph);
  output_ = network.graph.output;
}

at::Tensor InferenceNetwork::forward_part(const at::Tensor& x) const {
  const c10::InferenceMode inference;
  GraphValues values = inputs_;
  values[images_.value] =
      in_precision(x, options_.precision).contiguous(at::MemoryFormat::ChannelsLast);
  executor_->run(values, 0, executor_->size(), {.samples = x.size(0)});
  return values[output_.value].toTensor().to(at::kFloat);
}

at::Tensor InferenceNetwork::forward(const at::Tensor& x) {
  check_batch(input_, x);
  const std::int64_t samples = x.size(0);
  const bool is_one_part = samples <= part_;
  if (is_one_part && layers_divide_) {
    if (at::get_num_threads() != streams_.size()) at::set_num_threads(streams_.size());
    return forward_part(x).clone();  // a tensor that training may use, unlike those of inference
  }
  const std::int64_t part = is_one_part ? 1 : part_, parts = (samples + part - 1) / part;
  at::Tensor logits = at::empty({samples, outputs_});
  streams_.run(static_cast<std::size_t>(parts), [&](std::size_t i) {
    const std::int64_t first = static_cast<std::int64_t>(i) * part;
    const std::int64_t count = std::min(part, samples - first);
    logits.narrow(0, first, count).copy_(forward_part(x.narrow(0, first, count)));
  });
  return logits;
}

std::string InferenceNetwork::description() const {
  return fmt::format("LibTorch, {}, {} threads", name_of(options_.precision), streams_.size());
}

}  // namespace stoker

#include "stoker/nn/inference/inference_network.h"

#include <algorithm>
#include <utility>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/nn/graph/graph_nodes.h"
#include "stoker/nn/graph/inference_graph.h"
#include "stoker/nn/graph/trace_values.h"
#include "stoker/nn/inference/fold_norms.h"
#include "stoker/nn/inference/fuse_layers.h"
#include "stoker/nn/inference/packed_layer.h"
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

InferenceGraph logits_graph(const Model& model) {
  InferenceGraph network = with_folded_norms(inference_graph(model, ModelCard{}));
  for (at::Tensor& tensor : network.tensors) {
    if (tensor.defined() && tensor.dim() == 4) {
      tensor = tensor.contiguous(at::MemoryFormat::ChannelsLast);
    }
  }
  return network;
}

}  // namespace

InferenceNetwork::InferenceNetwork(const Model& model, const InferenceOptions& options)
    : input_(model.input()), options_(options), streams_(std::max(1, options.threads)) {
  settle_vector_math();
  const at::NoGradGuard no_grad;
  InferenceGraph network = logits_graph(model);
  const std::vector<TracedValue> values = trace_values(network, input_.image);
  part_ = images_of_part(values, options.precision == Precision::kBfloat16 ? 2 : 4);
  for (at::Tensor& tensor : network.tensors) {
    if (tensor.defined()) tensor = in_precision(tensor, options.precision);
  }
  std::map<std::size_t, GraphKernel> kernels;
  if (has_packed_layers()) {
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
  const ImageShape& image = input_.image;
  const bool fits = x.dim() == 4 && x.size(1) == image.channels && x.size(2) == image.height &&
                    x.size(3) == image.width;
  if (!fits) {
    throw Error(
        {.what = "the batch does not fit the network",
         .expected = fmt::format("images of {}x{}x{}", image.channels, image.height, image.width),
         .found = fmt::format("{} dimensions", x.dim())});
  }
  const std::int64_t samples = x.size(0), parts = (samples + part_ - 1) / part_;
  at::Tensor logits = at::empty({samples, input_.classes});
  streams_.run(static_cast<std::size_t>(parts), [&](std::size_t i) {
    const std::int64_t first = static_cast<std::int64_t>(i) * part_;
    const std::int64_t count = std::min(part_, samples - first);
    logits.narrow(0, first, count).copy_(forward_part(x.narrow(0, first, count)));
  });
  return logits;
}

std::string InferenceNetwork::description() const {
  return fmt::format("LibTorch, {}, {} threads", name_of(options_.precision), streams_.size());
}

}  // namespace stoker

#include "stoker/nn/layers/residual_block.h"

#include <cmath>
#include <limits>
#include <utility>

#include <ATen/ATen.h>

#include "stoker/nn/graph/graph_builder.h"
#include "stoker/nn/layers/initial_weights.h"

namespace stoker {
namespace {

at::Tensor kaiming_weights(const ConvNormShape& shape, LayerSeed& seed) {
  // torchvision counts all outputs, also where each is reached from its own group only.
  const auto fan_out = static_cast<double>(shape.outputs * shape.side * shape.side);
  return normal_weights({shape.outputs, shape.inputs / shape.groups, shape.side, shape.side},
                        std::sqrt(2 / fan_out), seed.seed, seed.next_layer++);
}

Bounds bounds_of(Rectifier rectifier) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (rectifier == Rectifier::kRelu) return {0, kInfinity};
  if (rectifier == Rectifier::kRelu6) return {0, 6};
  return {-kInfinity, kInfinity};
}

GraphReference append_rectifier(GraphBuilder& graph, GraphReference x, Rectifier rectifier) {
  if (rectifier == Rectifier::kRelu) return graph.activation("aten::relu", x);
  if (rectifier == Rectifier::kRelu6) return graph.clamp(x, 0, 6);
  return x;
}

}  // namespace

ConvNorm::ConvNorm(std::string convolution_name, std::string norm_name, const ConvNormShape& shape,
                   LayerSeed& seed)
    : convolution_name_(std::move(convolution_name)),
      norm_name_(std::move(norm_name)),
      convolution_(kaiming_weights(shape, seed)),
      norm_(shape.outputs),
      rectifier_(shape.rectifier) {
  convolution_.stride = shape.stride;
  convolution_.groups = shape.groups;
  norm_.count_batches();
}

at::Tensor ConvNorm::operator()(const at::Tensor& x, const StageContext& context) const {
  return norm_.rectified(convolution_(x), context, bounds_of(rectifier_));
}

std::int64_t ConvNorm::multiply_adds(ImageSize& size) const {
  size = size.strided(convolution_.stride);
  return convolution_.weight.numel() * size.height * size.width;
}

void ConvNorm::append_to(ModelStage& stage) const {
  convolution_.append_parameters(convolution_name_, stage.parameters);
  norm_.append_parameters(norm_name_, stage.parameters);
  norm_.append_buffers(norm_name_, stage.buffers);
}

GraphReference ConvNorm::append_nodes(GraphBuilder& graph, GraphReference x) const {
  const GraphReference a = convolution_.append_nodes(convolution_name_, graph, x);
  return append_rectifier(graph, norm_.append_nodes(norm_name_, graph, a), rectifier_);
}

void ConvNorm::to(const at::Device& device) {
  convolution_.to(device);
  norm_.to(device);
}

at::Tensor ResidualBlock::operator()(const at::Tensor& x, const StageContext& context) const {
  at::Tensor a = x;
  for (const ConvNorm& layer : path) a = layer(a, context);
  if (adds_input) a.add_(projection ? (*projection)(x, context) : x);
  return kept_between(a, bounds_of(rectifier));
}

std::int64_t ResidualBlock::multiply_adds(ImageSize& size) const {
  std::int64_t sum = 0;
  ImageSize around = size;
  for (const ConvNorm& layer : path) sum += layer.multiply_adds(size);
  if (projection) sum += projection->multiply_adds(around);
  return sum;
}

void ResidualBlock::append_to(ModelStage& stage) const {
  for (const ConvNorm& layer : path) layer.append_to(stage);
  if (projection) projection->append_to(stage);
}

GraphReference ResidualBlock::append_nodes(GraphBuilder& graph, GraphReference x) const {
  GraphReference a = x;
  for (const ConvNorm& layer : path) a = layer.append_nodes(graph, a);
  if (adds_input) a = graph.add(a, projection ? projection->append_nodes(graph, x) : x);
  return append_rectifier(graph, a, rectifier);
}

void ResidualBlock::to(const at::Device& device) {
  for (ConvNorm& layer : path) layer.to(device);
  if (projection) projection->to(device);
}

}  // namespace stoker

#include "stoker/nn/families/family_layers.h"

#include <cmath>
#include <utility>

namespace stoker {

InitialValues uniform_start(double bound) { return {InitialValues::Kind::kUniform, bound}; }
InitialValues normal_start(double deviation) { return {InitialValues::Kind::kNormal, deviation}; }

InitialValues rectified_start(std::int64_t outputs, std::int64_t side) {
  return normal_start(std::sqrt(2.0 / static_cast<double>(outputs * side * side)));
}

GraphReference channel_norm(GraphBuilder& b, const std::string& name, GraphReference x,
                            std::int64_t channels, double epsilon) {
  const GraphReference normed = b.layer_norm(name, b.permute(x, {0, 2, 3, 1}), channels, epsilon);
  return b.permute(normed, {0, 3, 1, 2});
}

GraphReference normed_convolution(GraphBuilder& b, GraphReference x, NormedConvolution layer) {
  layer.shape.initial = rectified_start(layer.shape.outputs, layer.shape.side);
  layer.batch_norm.channels = layer.shape.outputs;
  x = b.convolution(layer.convolution, x, layer.shape);
  x = b.batch_norm(layer.norm, x, layer.batch_norm);
  return layer.activation.empty() ? x : b.activation(layer.activation, x);
}

GraphReference excite(GraphBuilder& b, GraphReference x, const Excitation& layer) {
  const auto dense = [&](const std::string& name, GraphReference of, std::int64_t inputs,
                         std::int64_t outputs) {
    ConvolutionShape shape{
        .inputs = inputs, .outputs = outputs, .bias = true, .initial = rectified_start(outputs, 1)};
    if (layer.torch_bias) {
      shape.bias_initial = uniform_start(1 / std::sqrt(static_cast<double>(inputs)));
    }
    return b.convolution(name, of, shape);
  };
  GraphReference scale = b.average_pool(x, 1, 1);
  scale =
      b.activation(layer.activation, dense(layer.narrow, scale, layer.channels, layer.squeezed));
  scale = b.activation(layer.gate, dense(layer.widen, scale, layer.squeezed, layer.channels));
  return b.multiply(scale, x);
}

std::int64_t round_channels(double channels) {
  constexpr std::int64_t kStep = 8;
  const auto nearest = static_cast<std::int64_t>(channels + kStep / 2.0) / kStep * kStep;
  const std::int64_t least = std::max(nearest, kStep);
  return static_cast<double>(least) < 0.9 * channels ? least + kStep : least;
}

}  // namespace stoker

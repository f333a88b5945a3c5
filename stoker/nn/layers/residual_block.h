// The parts that ResNet and MobileNetV2 are made of: a convolution with its batch norm, and a few
// of them in a row with a way around. Names are torchvision's, so that files of weights fit both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "stoker/nn/layers/layers.h"
#include "stoker/nn/model.h"

namespace stoker {

// max(x, 0), for kRelu6 at most 6.
enum class Rectifier : std::uint8_t { kNone, kRelu, kRelu6 };

// Of an image on its way through a network.
struct ImageSize {
  std::int64_t height = 0, width = 0;

  // What a window with an odd side leaves, padded by half of it: one pixel for each stride begun.
  [[nodiscard]] ImageSize strided(std::int64_t stride) const {
    return {(height + stride - 1) / stride, (width + stride - 1) / stride};
  }
};

struct ConvNormShape {
  std::int64_t inputs = 0, outputs = 0;
  std::int64_t side = 1, stride = 1, groups = 1;
  Rectifier rectifier = Rectifier::kNone;
};

// Convolution, batch norm, rectifier.
class ConvNorm {
 public:
  // Weights are normal with the variance 2 / (outputs side²), as torchvision draws them.
  ConvNorm(std::string convolution_name, std::string norm_name, const ConvNormShape& shape,
           LayerSeed& seed);

  [[nodiscard]] at::Tensor operator()(const at::Tensor& x, const StageContext& context) const;
  // Of one sample; `size` becomes that of the output.
  [[nodiscard]] std::int64_t multiply_adds(ImageSize& size) const;
  void append_to(ModelStage& stage) const;
  // What it computes, as nodes.
  GraphReference append_nodes(GraphBuilder& graph, GraphReference x) const;
  void to(const at::Device& device);

 private:
  std::string convolution_name_, norm_name_;
  Convolution convolution_;
  BatchNorm norm_;
  Rectifier rectifier_;
};

// y = rectifier(path(x) + shortcut(x)), where the shortcut may be missing, x itself, or a
// projection to the path's shape.
struct ResidualBlock {
  std::vector<ConvNorm> path;
  bool adds_input = false;
  std::optional<ConvNorm> projection = {};  // of what is added
  Rectifier rectifier = Rectifier::kNone;

  [[nodiscard]] at::Tensor operator()(const at::Tensor& x, const StageContext& context) const;
  [[nodiscard]] std::int64_t multiply_adds(ImageSize& size) const;
  void append_to(ModelStage& stage) const;
  GraphReference append_nodes(GraphBuilder& graph, GraphReference x) const;
  void to(const at::Device& device);
};

}  // namespace stoker

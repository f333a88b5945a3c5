// The block of MobileNetV3 and EfficientNet: wider by a 1x1 convolution, each channel by itself,
// squeeze and excitation, narrower; the input is added where it has the same shape. torchvision's
// names, NAME.block.0.0 and so on, with timm's beside them.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/nn/families/family_layers.h"

namespace stoker {

struct InvertedResidual {
  std::string name, other;  // "features.2.0", "blocks.1.0"
  std::int64_t inputs = 0, wide = 0, outputs = 0;
  std::int64_t side = 3, stride = 1;
  bool fused = false;                    // the first two convolutions are one (EfficientNetV2)
  std::int64_t squeezed = 0;             // of the excitation; 0: there is none
  std::string activation;                // "aten::silu_"
  std::string squeeze_activation, gate;  // of the excitation
  BatchNormShape batch_norm;
  double drop_path = 0;
};
GraphReference inverted_residual(GraphBuilder& b, GraphReference x, const InvertedResidual& block);

// How such a network begins and ends: a convolution with its norm, NAME.0 and NAME.1.
struct PlainLayer {
  std::string name, convolution, norm;  // "features.0", and timm's "conv_stem", "bn1"
  std::int64_t inputs = 0, outputs = 0, side = 1, stride = 1;
  std::string activation;
  BatchNormShape batch_norm;
};
GraphReference plain_layer(GraphBuilder& b, GraphReference x, const PlainLayer& layer);

}  // namespace stoker

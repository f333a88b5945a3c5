// ResNet-18, 34, 50 and 101 (He et al., 2015) as torchvision has them: the halving of a bottleneck
// is in its 3x3 convolution. Tensors have torchvision's names and shapes, so its files of weights
// fit. Stages, from the input: conv1 (with bn1), layer1 to layer4, fc.
#pragma once

#include <cstdint>
#include <memory>

#include "stoker/nn/model.h"

namespace stoker {

// For images of three channels and at least 32x32; Error for others. `depth` is one of the four.
[[nodiscard]] std::unique_ptr<Model> make_resnet(int depth, const ModelInput& input,
                                                 std::uint64_t seed);

}  // namespace stoker

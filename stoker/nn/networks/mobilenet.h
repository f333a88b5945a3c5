// MobileNetV2 (Sandler et al., 2018) as torchvision has it, width 1: inverted residual blocks,
// whose 3x3 convolutions see one channel each. Tensors have torchvision's names and shapes, so its
// files of weights fit. Stages, from the input: features.0 to features.18, classifier.1.
//
// In training a fifth of the features is dropped in front of the classifier, as a function of
// LossOptions::draw and of nothing else, so a resumed run drops the same ones; without it, none.
#pragma once

#include <cstdint>
#include <memory>

#include "stoker/nn/model.h"

namespace stoker {

// For images of three channels and at least 32x32; Error for others.
[[nodiscard]] std::unique_ptr<Model> make_mobilenet_v2(const ModelInput& input, std::uint64_t seed);

}  // namespace stoker

// RandAugment (Cubuk et al., 2019) and TrivialAugmentWide (Müller and Hutter, 2021), with the
// changes and ranges of torchvision. Geometry is bilinear here (torchvision's default is the
// nearest pixel), black fills.
#pragma once

#include "stoker/augment/operation.h"

namespace stoker {

// RandAugment's magnitudes are 0 (nothing, or nearly) to 30 (the end of each range).
inline constexpr int kMaxMagnitude = 30;

// `changes` of fourteen changes, each drawn for itself, at one magnitude; where `deviation` is
// above 0, at a magnitude drawn anew from a normal distribution about it, cut to the scale.
[[nodiscard]] OperationSchema randaugment_schema();

// One of fourteen changes, at one of 31 magnitudes.
[[nodiscard]] OperationSchema trivialaugment_schema();

}  // namespace stoker

// The framings: random_resized_crop, resize and resize_crop.
#pragma once

#include "stoker/augment/operation.h"

namespace stoker {

// torchvision's RandomResizedCrop: a part of random area and aspect ratio, resized to a square.
[[nodiscard]] OperationSchema random_resized_crop_schema();
// All of the image, resized to height x width whatever its aspect ratio.
[[nodiscard]] OperationSchema resize_schema();
// torchvision's Resize(short) and CenterCrop(size): how published weights are evaluated.
[[nodiscard]] OperationSchema resize_crop_schema();

}  // namespace stoker

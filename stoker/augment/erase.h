// Random erasing (Zhong et al., 2017), with the ranges of torchvision's RandomErasing.
//
// It works on bytes, before they are normalised; torchvision's works after, where its value 0 means
// the mean colour. The value nearest to that here is the mean grey of the set, about 116 for
// ImageNet.
#pragma once

#include "stoker/augment/box.h"
#include "stoker/augment/operation.h"

namespace stoker {

// All channels of the pixels in `box`, which lies in the image, become `value`.
[[nodiscard]] Image erase(const ImageView& image, const Box& box, std::uint8_t value);

// Fractions of the area and ratios of height to width, both ends included.
struct EraseRange {
  Range area = {0.02, 0.33};
  Range ratio = {0.3, 3.3};
};
// A box by chance: its area even in its range, its ratio even in the logarithm's; ten tries to find
// one that is smaller than the image in both directions, else an empty box.
[[nodiscard]] Box draw_erase_box(Rng& rng, const ImageShape& shape, const EraseRange& range);

[[nodiscard]] OperationSchema erase_schema();

}  // namespace stoker

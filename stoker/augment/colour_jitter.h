// Brightness, contrast, saturation and hue in random order, as torchvision's ColorJitter.
#pragma once

#include "stoker/augment/operation.h"

namespace stoker {

// The four changes by their factors, and the order in which they are done: places in the list
// brightness, contrast, saturation, hue.
struct ColourChange {
  double brightness = 1, contrast = 1, saturation = 1, hue = 0;
  std::array<std::uint8_t, 4> order = {0, 1, 2, 3};
};

[[nodiscard]] Image colour_jitter(const ImageView& image, const ColourChange& change);

[[nodiscard]] OperationSchema colour_jitter_schema();

}  // namespace stoker

// Scaling about the middle of the image; its size stays.
#pragma once

#include "stoker/augment/operation.h"

namespace stoker {

// factor > 1 enlarges the image, factor < 1 shrinks it into a black frame. factor > 0, else
// Error.
[[nodiscard]] Image scale(const ImageView& image, double factor);

[[nodiscard]] OperationSchema scale_schema();

}  // namespace stoker

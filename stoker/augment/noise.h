// Noise: every value its own.
#pragma once

#include "stoker/augment/operation.h"

namespace stoker {

// Each value gets its own uniform number from [-max_noise, max_noise] (a fraction of the full
// scale, 0 to 1) and stays legal.
[[nodiscard]] Image add_noise(const ImageView& image, double max_noise, const RngStream& stream);

[[nodiscard]] OperationSchema noise_schema();

}  // namespace stoker

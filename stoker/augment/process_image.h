// process_image of the assignment: all four operations in sequence, with random arguments.
#pragma once

#include "stoker/augment/policy.h"

namespace stoker {

// Largest values in both directions.
struct ProcessBounds {
  double rotate_degrees = 15;
  double shift_pixels = 2;
  double skew_tilt = 0.15;
  double max_noise = 0.1;
};

// The policy that process_image applies; for many images make it once and apply that.
[[nodiscard]] Policy process_policy(const ProcessBounds& bounds = {});

[[nodiscard]] Image process_image(const ImageView& image, const SampleKey& key,
                                  const ProcessBounds& bounds = {});

}  // namespace stoker

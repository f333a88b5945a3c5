#include "stoker/augment/process_image.h"

#include <fmt/format.h>

namespace stoker {

Policy process_policy(const ProcessBounds& bounds) {
  return Policy::parse(fmt::format("rotate({}),shift({}),skew({}),noise({})", bounds.rotate_degrees,
                                   bounds.shift_pixels, bounds.skew_tilt, bounds.max_noise));
}

Image process_image(const ImageView& image, const SampleKey& key, const ProcessBounds& bounds) {
  return process_policy(bounds).apply(image, key);
}

}  // namespace stoker

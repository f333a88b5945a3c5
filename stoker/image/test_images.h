// Images for the tests of this module and those below it.
#pragma once

#include "stoker/core/rng.h"
#include "stoker/image/image.h"

namespace stoker::test {

inline Image random_image(const ImageShape& shape, std::uint64_t seed) {
  Image image(shape);
  Rng rng({.seed = seed}, 0);
  for (std::size_t i = 0; i < shape.bytes(); ++i) {
    image.view().data[i] = static_cast<std::uint8_t>(rng.uniform_int(256));
  }
  return image;
}

// A soft blob in the middle of a black frame: nothing of it leaves the image under small changes.
inline Image blob(int side) {
  Image image({.height = side, .width = side});
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      const double dx = (x - side / 2.0) / (side / 5.0), dy = (y - side / 2.0) / (side / 8.0);
      const double r = dx * dx + dy * dy;
      image.view().row(y)[x] = static_cast<std::uint8_t>(r >= 1 ? 0 : 240 * (1 - r) * (1 - r));
    }
  }
  return image;
}

}  // namespace stoker::test

// Perspective, with the ranges of torchvision's RandomPerspective.
#pragma once

#include "stoker/augment/operation.h"
#include "stoker/kernels/warp/perspective.h"

namespace stoker {

// The image's corners (0, 0), (width - 1, 0), (width - 1, height - 1), (0, height - 1) go to `to`,
// given in that order; bilinear, black where the input had nothing.
[[nodiscard]] Image perspective(const ImageView& image, const Quadrangle& to);

// Corners by chance: each moves inwards by whole pixels, up to `distortion` times half a side.
// Drawn again, up to ten times, where they make no convex shape (which only happens above 2/3).
[[nodiscard]] Quadrangle draw_corners(Rng& rng, const ImageShape& shape, double distortion);

[[nodiscard]] OperationSchema perspective_schema();

}  // namespace stoker

// Perspective resampling: out(x, y) = in(map(x, y)), bilinear as warp.h has it, black outside the
// input. The place of each pixel is computed in doubles by +, * and / alone, cut to steps of 2^-16
// pixel, and from there on the arithmetic is warp.h's: the same bytes in every version.
// Cost: two divisions a pixel, one pass, and a copy of the input into the scratch memory.
#pragma once

#include <array>

#include "stoker/image/image.h"
#include "stoker/kernels/warp/warp.h"

namespace stoker {

// in_x = (a x + b y + c) / (g x + h y + i),  in_y = (d x + e y + f) / (g x + h y + i)
// of places measured from the upper left corner of the image: pixel (0, 0) has its centre at (0.5,
// 0.5), as in Pillow.
struct Perspective {
  double a = 1, b = 0, c = 0;
  double d = 0, e = 1, f = 0;
  double g = 0, h = 0, i = 1;
};

struct Place {
  double x, y;
};
using Quadrangle = std::array<Place, 4>;  // upper left, upper right, lower right, lower left

// The map that shows the input's `from` where the output has `to`. Throws Error unless the corners
// of `to` are those of a convex shape.
[[nodiscard]] Perspective perspective_between(const Quadrangle& from, const Quadrangle& to);

// Same shape, no overlap.
void warp_perspective(const MutableImageView& out, const ImageView& in, const Perspective& map,
                      WarpScratch& scratch);
void warp_perspective_reference(const MutableImageView& out, const ImageView& in,
                                const Perspective& map);

}  // namespace stoker

/// \file
/// Affine maps of the plane, from a place in the output image to the place in the input image that
/// it shows. Pixel (x, y) has its centre at (x, y). Maps multiply, so any number of rotations,
/// shifts, skews and scalings cost one resampling pass.
///
/// The same bits on every machine: only +, -, * and / of doubles, and a sine of our own (the C
/// library's has versions for different CPUs that may differ in the last bit).
#pragma once

#include <cstdint>

#include "stoker/export.h"

namespace stoker {

/// in_x = xx * x + xy * y + x0,  in_y = yx * x + yy * y + y0
struct Affine {
  double xx = 1, xy = 0, x0 = 0;
  double yx = 0, yy = 1, y0 = 0;
  bool operator==(const Affine&) const = default;
};

/// The map of doing `first`, then `second`: the output of `second` looks through it into the output
/// of `first`, and through that into the input.
[[nodiscard]] inline Affine then(const Affine& first, const Affine& second) noexcept {
  return {.xx = first.xx * second.xx + first.xy * second.yx,
          .xy = first.xx * second.xy + first.xy * second.yy,
          .x0 = first.xx * second.x0 + first.xy * second.y0 + first.x0,
          .yx = first.yx * second.xx + first.yy * second.yx,
          .yy = first.yx * second.xy + first.yy * second.yy,
          .y0 = first.yx * second.x0 + first.yy * second.y0 + first.y0};
}

/// Counter-clockwise as seen on a screen, about (centre_x, centre_y).
[[nodiscard]] STOKER_API Affine rotation(double degrees, double centre_x, double centre_y) noexcept;
/// Moves the image `dx` to the left and `dy` up.
[[nodiscard]] inline Affine translation(double dx, double dy) noexcept {
  return {.x0 = dx, .y0 = dy};
}
/// Row y shows the input from x + y * tilt on.
[[nodiscard]] inline Affine skewing(double tilt) noexcept { return {.xy = tilt}; }
/// Enlarges by `factor` about (centre_x, centre_y). factor > 0.
[[nodiscard]] STOKER_API Affine scaling(double factor, double centre_x, double centre_y) noexcept;

/// Of one angle.
struct SinCos {
  double sin, cos;
};
/// Error below 1e-15 for |degrees| up to 1e6; exact at multiples of 90.
[[nodiscard]] STOKER_API SinCos sin_cos_degrees(double degrees) noexcept;

/// The same map in steps of 2^-16 pixel. The constant terms carry half a step of the 8-bit weights
/// of bilinear interpolation, so that cutting bits off rounds to the nearest weight.
struct FixedAffine {
  std::int64_t xx, xy, x0;
  std::int64_t yx, yy, y0;
};
/// Of a place in FixedAffine.
inline constexpr int kFractionBits = 16;
/// Of those, the upper ones that weigh pixels.
inline constexpr int kWeightBits = 8;
/// Throws Error where a coefficient is not finite, a linear one beyond 2^25 or a constant beyond
/// 2^30.
[[nodiscard]] STOKER_API FixedAffine to_fixed(const Affine& map);

}  // namespace stoker

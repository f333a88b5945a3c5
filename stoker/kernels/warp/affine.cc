#include "stoker/kernels/warp/affine.h"

#include <cmath>

#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker {

Affine then(const Affine& first, const Affine& second) noexcept {
  return {.xx = first.xx * second.xx + first.xy * second.yx,
          .xy = first.xx * second.xy + first.xy * second.yy,
          .x0 = first.xx * second.x0 + first.xy * second.y0 + first.x0,
          .yx = first.yx * second.xx + first.yy * second.yx,
          .yy = first.yx * second.xy + first.yy * second.yy,
          .y0 = first.yx * second.x0 + first.yy * second.y0 + first.y0};
}

Affine rotation(double degrees, double centre_x, double centre_y) noexcept {
  const auto [s, c] = sin_cos_degrees(degrees);
  return {.xx = c,
          .xy = -s,
          .x0 = centre_x - c * centre_x + s * centre_y,
          .yx = s,
          .yy = c,
          .y0 = centre_y - s * centre_x - c * centre_y};
}

Affine translation(double dx, double dy) noexcept { return {.x0 = dx, .y0 = dy}; }

Affine skewing(double tilt) noexcept { return {.xy = tilt}; }

Affine scaling(double factor, double centre_x, double centre_y) noexcept {
  const double inverse = 1 / factor;
  return {.xx = inverse,
          .x0 = centre_x - inverse * centre_x,
          .yy = inverse,
          .y0 = centre_y - inverse * centre_y};
}

SinCos sin_cos_degrees(double degrees) noexcept {
  // degrees = 90 * quarter + rest with |rest| <= 45, exactly: both steps have exact results.
  const double quarter = std::floor(degrees / 90 + 0.5);
  const double rest = degrees - 90 * quarter;
  const double x = rest * 0.017453292519943295;  // pi / 180
  const double x2 = x * x;
  // Taylor series to x^17 and x^16; for |x| <= pi/4 the next terms are below 1e-16.
  double s = 1, c = 1;
  for (int i = 16; i >= 2; i -= 2) {
    s = 1 - s * (x2 / (i * (i + 1)));
    c = 1 - c * (x2 / (i * (i - 1)));
  }
  s *= x;
  switch (static_cast<std::int64_t>(quarter) & 3) {
    case 0:
      return {s, c};
    case 1:
      return {c, -s};
    case 2:
      return {-s, -c};
    default:
      return {-c, s};
  }
}

namespace {

std::int64_t to_fixed(double value) {
  if (!(std::abs(value) <= 0x1p30)) {
    throw Error({.what = "cannot warp an image by this map",
                 .expected = "coefficients within 2^30",
                 .found = fmt::format("{}", value)});
  }
  return static_cast<std::int64_t>(std::floor(value * (1 << kFractionBits) + 0.5));
}

}  // namespace

FixedAffine to_fixed(const Affine& map) {
  constexpr std::int64_t kHalfWeight = 1 << (kFractionBits - kWeightBits - 1);
  return {.xx = to_fixed(map.xx),
          .xy = to_fixed(map.xy),
          .x0 = to_fixed(map.x0) + kHalfWeight,
          .yx = to_fixed(map.yx),
          .yy = to_fixed(map.yy),
          .y0 = to_fixed(map.y0) + kHalfWeight};
}

}  // namespace stoker

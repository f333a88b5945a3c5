#include "stoker/kernels/warp/affine.h"

#include <cmath>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/image/image.h"

namespace stoker {

Affine rotation(double degrees, double centre_x, double centre_y) noexcept {
  const auto [s, c] = sin_cos_degrees(degrees);
  return {.xx = c,
          .xy = -s,
          .x0 = centre_x - c * centre_x + s * centre_y,
          .yx = s,
          .yy = c,
          .y0 = centre_y - s * centre_x - c * centre_y};
}

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
  // Taylor series to x^15 and x^16, from the last term on; for |x| <= pi/4 what follows is below
  // 1e-16.
  constexpr double kSine[] = {-1 / 1307674368000.0, 1 / 6227020800.0, -1 / 39916800.0, 1 / 362880.0,
                              -1 / 5040.0,          1 / 120.0,        -1 / 6.0,        1.0};
  constexpr double kCosine[] = {1 / 20922789888000.0,
                                -1 / 87178291200.0,
                                1 / 479001600.0,
                                -1 / 3628800.0,
                                1 / 40320.0,
                                -1 / 720.0,
                                1 / 24.0,
                                -1 / 2.0,
                                1.0};
  double s = 0, c = 0;
  for (const double coefficient : kSine) s = s * x2 + coefficient;
  for (const double coefficient : kCosine) c = c * x2 + coefficient;
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

std::int64_t to_fixed(double value, double limit) {
  if (!(std::abs(value) <= limit)) {
    throw Error({.what = "cannot warp an image by this map",
                 .expected = fmt::format("coefficients within {}", limit),
                 .found = fmt::format("{}", value)});
  }
  return static_cast<std::int64_t>(std::floor(value * (1 << kFractionBits) + 0.5));
}

}  // namespace

FixedAffine to_fixed(const Affine& map) {
  // With sides of up to 2^20, no place can leave 64 bits: 2 * 2^(25 + 16 + 20) + 2^46 < 2^63.
  constexpr double kMostLinear = 0x1p25, kMostConstant = 0x1p30;
  static_assert(kMaxSide <= 1 << 20);
  constexpr std::int64_t kHalfWeight = 1 << (kFractionBits - kWeightBits - 1);
  return {.xx = to_fixed(map.xx, kMostLinear),
          .xy = to_fixed(map.xy, kMostLinear),
          .x0 = to_fixed(map.x0, kMostConstant) + kHalfWeight,
          .yx = to_fixed(map.yx, kMostLinear),
          .yy = to_fixed(map.yy, kMostLinear),
          .y0 = to_fixed(map.y0, kMostConstant) + kHalfWeight};
}

}  // namespace stoker

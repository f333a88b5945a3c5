#include "stoker/core/portable_math.h"

#include <cmath>

namespace stoker {
namespace {
// ln 2 in two parts; the first has so few bits that its product with an exponent is exact.
constexpr double kLn2High = 0x1.62e42fee00000p-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
}  // namespace

double portable_log(double x) noexcept {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // [0.5, 1)
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  // ln m = 2 artanh(s) = 2 (s + s^3/3 + s^5/5 + …), |s| < 0.172: after s^23 the rest is below
  // 1e-18.
  const double s = (m - 1) / (m + 1), s2 = s * s;
  double series = 0;
  for (int k = 23; k >= 3; k -= 2) series = (series + 1.0 / k) * s2;
  return exponent * kLn2High + (exponent * kLn2Low + 2 * s * series + 2 * s);
}

double portable_exp(double x) noexcept {
  if (x < -700) return 0;
  if (x > 700) x = 700;
  const double k = std::floor(x * 1.4426950408889634 + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;  // |r| <= ln(2) / 2
  // Taylor series to r^15, from the last term on; what follows is below 1e-20.
  double series = 1;
  for (int n = 15; n >= 1; --n) series = 1 + series * r / n;
  return std::ldexp(series, static_cast<int>(k));
}

}  // namespace stoker

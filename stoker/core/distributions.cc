#include "stoker/core/distributions.h"

#include <cmath>

#include "stoker/core/portable_math.h"

namespace stoker {
namespace {

// Marsaglia and Tsang, "A simple method for generating gamma variables", 2000. shape >= 1.
double draw_log_gamma_from_one(Rng& rng, double shape) noexcept {
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = draw_normal(rng);
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root, log_v = portable_log(v);
    const double log_u = portable_log(1 - rng.uniform());  // never of 0
    if (log_u < 0.5 * x * x + d - d * v + d * log_v) return portable_log(d) + log_v;
  }
}

}  // namespace

// Marsaglia's polar method: a point in the unit circle, stretched.
std::array<double, 2> draw_two_normals(Rng& rng) noexcept {
  while (true) {
    const double x = rng.uniform(-1, 1), y = rng.uniform(-1, 1);
    const double s = x * x + y * y;
    if (s <= 0 || s >= 1) continue;
    const double stretch = std::sqrt(-2 * portable_log(s) / s);
    return {x * stretch, y * stretch};
  }
}

double draw_normal(Rng& rng) noexcept { return draw_two_normals(rng)[0]; }

double draw_log_gamma(Rng& rng, double shape) noexcept {
  if (shape >= 1) return draw_log_gamma_from_one(rng, shape);
  // Gamma(shape) = Gamma(shape + 1) u^(1 / shape).
  const double above = draw_log_gamma_from_one(rng, shape + 1);
  return above + portable_log(1 - rng.uniform()) / shape;
}

// x / (x + y) of two Gamma numbers.
double draw_beta(Rng& rng, double a, double b) noexcept {
  const double log_x = draw_log_gamma(rng, a), log_y = draw_log_gamma(rng, b);
  return 1 / (1 + portable_exp(log_y - log_x));
}

}  // namespace stoker

// Distributions beyond the uniform one, drawn from an Rng: the same numbers on every machine (see
// portable_math.h). Each takes as many draws as its rejections need, so nothing else should read
// the generator by position.
#pragma once

#include <array>

#include "stoker/core/rng.h"

namespace stoker {

// Mean 0, deviation 1.
[[nodiscard]] double draw_normal(Rng& rng) noexcept;
// Two independent ones for the price of one; the first is what draw_normal() would give.
[[nodiscard]] std::array<double, 2> draw_two_normals(Rng& rng) noexcept;

// The logarithm of a Gamma(shape) number: for small shapes the number itself is often too small for
// a double. shape > 0.
[[nodiscard]] double draw_log_gamma(Rng& rng, double shape) noexcept;

// In [0, 1]. a, b > 0.
[[nodiscard]] double draw_beta(Rng& rng, double a, double b) noexcept;

}  // namespace stoker

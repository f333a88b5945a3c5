// Logarithm and exponential with the same bits on every machine: only +, -, * and / of doubles and
// exact scalings by powers of two. The C library has versions for different CPUs that may differ
// in the last bit, and what is drawn at random reaches the pixels.
#pragma once

namespace stoker {

// Relative error below 1e-15. x > 0.
[[nodiscard]] double portable_log(double x) noexcept;

// Relative error below 1e-15; 0 below x = -700, and never more than at x = 700.
[[nodiscard]] double portable_exp(double x) noexcept;

}  // namespace stoker

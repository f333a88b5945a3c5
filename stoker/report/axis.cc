#include "stoker/report/axis.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"

namespace stoker {
namespace {

double power_of_ten(int exponent) {
  if (exponent < 0) return 1 / power_of_ten(-exponent);
  double power = 1;
  for (; exponent > 0; --exponent) power *= 10;
  return power;
}

// digit * 10^exponent, digit one of 1, 2 and 5. Multiples are rounded once, so that they print as
// people write them: 0.3, not 0.30000000000000004.
struct Step {
  int digit = 1;
  int exponent = 0;

  [[nodiscard]] double times(std::int64_t count) const {
    const auto digits = static_cast<double>(count * digit);
    return exponent < 0 ? digits / power_of_ten(-exponent) : digits * power_of_ten(exponent);
  }
};

// The least one that is not below `size` > 0.
Step round_step(double size) {
  Step step;
  while (step.times(1) >= size) --step.exponent;
  while (step.times(1) < size) ++step.exponent;
  // Now 10^(e-1) < size <= 10^e.
  for (const int digit : {2, 5}) {
    const Step smaller{digit, step.exponent - 1};
    if (smaller.times(1) >= size) return smaller;
  }
  return step;
}

// log2 without the C library's, which may differ between CPUs. With v = m 2^e, 1 <= m < 2:
// ln m = 2 (z + z^3/3 + z^5/5 + …), z = (m - 1) / (m + 1) < 1/3; 20 terms leave less than 1e-19.
double binary_logarithm(double value) {
  int exponent = 0;
  const double m = 2 * std::frexp(value, &exponent);
  const double z = (m - 1) / (m + 1);
  double sum = 0;
  for (int k = 39; k >= 1; k -= 2) sum = sum * z * z + 1.0 / k;
  constexpr double kLn2 = 0.6931471805599453;
  return exponent - 1 + 2 * z * sum / kLn2;
}

double checked_end(const char* name, double value) {
  if (std::abs(value) <= kMostPlotted) return value;
  throw Error({.what = fmt::format("cannot end an axis at this {}", name),
               .expected = fmt::format("a number within {}", kMostPlotted),
               .found = fmt::format("{}", value)});
}

struct Ends {
  double low;
  double high;
};

Ends widened(double least, double greatest) {
  const double size = std::max(std::abs(least), std::abs(greatest));
  if (greatest - least > size * 1e-9 && greatest - least > 1e-90) return {least, greatest};
  const double around = size > 1e-90 ? size * 0.1 : 1;
  return {least - around, greatest + around};
}

// The values' ends where none are given; where one is given the other stays on its side.
Ends linear_ends(double least, double greatest, const AxisOptions& options) {
  Ends ends = widened(least, greatest);
  if (options.low) ends.low = checked_end("low end", *options.low);
  if (options.high) ends.high = checked_end("high end", *options.high);
  if (options.low && !options.high)
    ends.high = std::max(ends.high, widened(ends.low, ends.low).high);
  if (options.high && !options.low)
    ends.low = std::min(ends.low, widened(ends.high, ends.high).low);
  const Ends wide = widened(ends.low, ends.high);
  if (wide.low == ends.low && ends.low < ends.high) return ends;
  throw Error({.what = "the ends of an axis must differ",
               .expected = fmt::format("a low end below {}", ends.high),
               .found = fmt::format("{}", ends.low)});
}

Axis linear_axis(double least, double greatest, const AxisOptions& options) {
  const Ends ends = linear_ends(least, greatest, options);
  Step step = round_step((ends.high - ends.low) / std::max(options.most_ticks - 1, 1));
  if (options.whole && step.exponent < 0) step = {1, 0};
  const double size = step.times(1);
  const bool round_low = options.round_ends && !options.low;
  const bool round_high = options.round_ends && !options.high;
  // A value that is a multiple but for rounding counts as one.
  constexpr double kSlack = 1e-6;
  const double first =
      round_low ? std::floor(ends.low / size + kSlack) : std::ceil(ends.low / size - kSlack);
  const double last =
      round_high ? std::ceil(ends.high / size - kSlack) : std::floor(ends.high / size + kSlack);
  Axis axis{AxisScale::kLinear, ends.low, ends.high, {}};
  for (auto i = static_cast<std::int64_t>(first); i <= static_cast<std::int64_t>(last); ++i) {
    axis.ticks.push_back({step.times(i), fmt::format("{}", step.times(i))});
  }
  if (round_low) axis.low = axis.ticks.front().value;
  if (round_high) axis.high = axis.ticks.back().value;
  return axis;
}

std::string power_label(int exponent) {
  if (exponent < -6 || exponent > 20) return fmt::format("2^{}", exponent);
  return fmt::format("{}", std::ldexp(1.0, exponent));
}

Axis log2_axis(double least, double greatest, const AxisOptions& options) {
  STOKER_INVARIANT(least > 0, "least={}", least);
  int low = static_cast<int>(std::floor(binary_logarithm(least)));
  int high = static_cast<int>(std::ceil(binary_logarithm(greatest)));
  if (low == high) {
    --low;
    ++high;
  }
  Axis axis{AxisScale::kLog2, std::ldexp(1.0, low), std::ldexp(1.0, high), {}};
  const int stride = 1 + (high - low) / std::max(options.most_ticks, 1);
  for (int exponent = low; exponent <= high; exponent += stride) {
    axis.ticks.push_back({std::ldexp(1.0, exponent), power_label(exponent)});
  }
  return axis;
}

Axis log10_axis(double least, double greatest, const AxisOptions& options) {
  STOKER_INVARIANT(least > 0, "least={}", least);
  // Compared as numbers: the C library's logarithm may differ between machines in the last bit.
  int low = -100;
  while (power_of_ten(low + 1) <= least) ++low;
  int high = low + 1;
  while (power_of_ten(high) < greatest) ++high;
  if (least == greatest && power_of_ten(low) == least) --low;
  Axis axis{AxisScale::kLog10, power_of_ten(low), power_of_ten(high), {}};
  const int stride = 1 + (high - low) / std::max(options.most_ticks, 1);
  for (int exponent = low; exponent <= high; exponent += stride) {
    const bool short_enough = exponent >= -3 && exponent <= 4;
    axis.ticks.push_back({power_of_ten(exponent), short_enough
                                                      ? fmt::format("{}", power_of_ten(exponent))
                                                      : fmt::format("1e{}", exponent)});
  }
  return axis;
}

}  // namespace

double Axis::share(double value) const {
  if (scale == AxisScale::kLinear) return (value - low) / (high - low);
  const double first = binary_logarithm(low);
  return (binary_logarithm(value) - first) / (binary_logarithm(high) - first);
}

Axis make_axis(double least, double greatest, const AxisOptions& options) {
  STOKER_INVARIANT(least <= greatest && least >= -kMostPlotted && greatest <= kMostPlotted,
                   "{} to {}", least, greatest);
  switch (options.scale) {
    case AxisScale::kLinear:
      return linear_axis(least, greatest, options);
    case AxisScale::kLog2:
      return log2_axis(least, greatest, options);
    case AxisScale::kLog10:
      return log10_axis(least, greatest, options);
  }
  STOKER_INVARIANT(false, "scale {}", static_cast<int>(options.scale));
}

}  // namespace stoker

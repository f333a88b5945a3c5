// The axis of a plot: where it starts and ends, and ticks at round numbers. Plain values; making
// one costs its ticks. The same bits on every machine: only +, -, *, / and a logarithm of our own.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace stoker {

enum class AxisScale { kLinear, kLog2, kLog10 };

struct Tick {
  double value = 0;
  std::string label;
};

struct Axis {
  AxisScale scale = AxisScale::kLinear;
  double low = 0;
  double high = 1;  // greater than low
  std::vector<Tick> ticks;

  // 0 at low, 1 at high; beyond for values outside. On a logarithmic axis the value is
  // greater than 0.
  [[nodiscard]] double share(double value) const;
};

struct AxisOptions {
  AxisScale scale = AxisScale::kLinear;
  int most_ticks = 8;
  bool whole = false;  // ticks at whole numbers only
  // Linear: also end at ticks. Ends given below stay as they are.
  bool round_ends = false;
  std::optional<double> low = {};
  std::optional<double> high = {};
};

// Beyond ±kMostPlotted nothing is drawn.
inline constexpr double kMostPlotted = 1e100;

// For values from `least` to `greatest`, both within ±kMostPlotted, and greater than 0 on a
// logarithmic axis, which ends at powers of two or ten. Where they are all but equal the axis is
// widened around them. Throws Error where low or high is out of range or not below the other end.
[[nodiscard]] Axis make_axis(double least, double greatest, const AxisOptions& options);

}  // namespace stoker

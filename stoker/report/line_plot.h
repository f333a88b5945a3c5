// Line plots: several series over one x axis, with ticks at round numbers, a grid, a legend above
// and smooth lines; accuracy per epoch, time against workers.
// Functions without state, safe from any thread; they keep nothing of their input. Cost: the pixels
// of the page, at most kMaxPagePixels (page.h), checked before memory is taken, and the length of
// the lines. The same bytes on every machine.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/image/image.h"
#include "stoker/report/axis.h"
#include "stoker/report/canvas.h"
#include "stoker/report/coverage.h"

namespace stoker {

// Points in the order in which they are joined. A point with a coordinate that is NaN, infinite or
// beyond ±kMostPlotted is a gap. A series without points appears in the legend alone.
struct PlotSeries {
  std::string name;  // UTF-8; no entry in the legend where empty
  std::vector<double> x;
  std::vector<double> y;  // as many as x
  bool joined = true;     // else small points, each on its own
};

struct LinePlotOptions {
  std::string title = {};
  std::string x_title = {};
  std::string y_title = {};
  AxisScale x_scale = AxisScale::kLinear;
  bool markers = true;  // where points are far enough apart; a lone point always has one
  // Ends of the y axis; by default round numbers around the values. What lies beyond is cut off.
  std::optional<double> y_min = {};
  std::optional<double> y_max = {};
  int width = 960;  // of the page, in pixels
  int height = 600;
};

// RGB. Without any point the axes run from 0 to 1 (1 to 2 on a log2 axis) and the plot says so.
// Throws Error where there is no series, lengths differ, an x on a logarithmic axis is not greater
// than 0, or the page is too large, or too small for its text.
[[nodiscard]] Image line_plot(std::span<const PlotSeries> series,
                              const LinePlotOptions& options = {});

// Where things are in that image.
struct PlotLayout {
  ImageShape page;
  Rect area;  // between the axes
  Axis x;
  Axis y;
  int legend_y = 0;

  [[nodiscard]] Point place(double x_value, double y_value) const;
};
[[nodiscard]] PlotLayout plan_line_plot(std::span<const PlotSeries> series,
                                        const LinePlotOptions& options = {});

}  // namespace stoker

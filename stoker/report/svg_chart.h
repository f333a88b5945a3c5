// Charts as SVG for a page: lines and points over one x axis, with the values in attributes, from
// which the page's script shows what lies under the pointer. Colours come from the style sheet, so
// a chart fits light and dark pages and print.
// Functions without state, safe from any thread. Text is escaped here.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/report/axis.h"

namespace stoker {

inline constexpr std::size_t kChartColours = 8;

// Points with a coordinate that cannot be drawn (NaN, infinite) are gaps.
struct ChartSeries {
  std::string name = {};  // no entry in the legend where empty
  std::vector<double> x = {}, y = {};
  std::vector<double> low = {}, high = {};  // where not empty: a line from one to the other
  std::size_t colour = 0;                   // below kChartColours
  bool faint = false, dashed = false;
  bool dots = false;    // points stand out
  bool points = false;  // they are all there is: many, small, not joined
  bool still = false;   // the pointer finds no values, as with `faint` and `points`
};

struct ChartOptions {
  std::string title = {};
  std::string x_name = "epoch";
  bool percent = false;  // values are shares, shown as per cent
  bool whole_x = false;  // ticks at whole numbers only
  AxisScale x_scale = AxisScale::kLinear;
  std::optional<double> y_low = {}, y_high = {};  // the axis goes that far at least
  std::optional<double> y_floor = {};             // values below leave the image at its bottom
  // What x stands for where it is no number: point i is called names[i].
  std::vector<std::string> x_names = {};
  int width = 420, height = 250;
};

// A <figure> with title, image and legend. Empty where there is nothing to draw.
[[nodiscard]] std::string svg_chart(std::span<const ChartSeries> series,
                                    const ChartOptions& options);

}  // namespace stoker

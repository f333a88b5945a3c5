#include "stoker/report/svg_chart.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stoker/core/invariant.h"
#include "stoker/report/html.h"

namespace stoker {
namespace {

constexpr double kLeft = 46, kRight = 12, kTop = 10, kBottom = 34;

struct Frame {
  Axis x, y;
  double left = kLeft, top = kTop, width = 0, height = 0;

  [[nodiscard]] double at_x(double value) const { return left + x.share(value) * width; }
  [[nodiscard]] double at_y(double value) const {
    return top + (1 - std::clamp(y.share(value), 0.0, 1.0)) * height;
  }
};

bool can_draw(double x, double y, AxisScale scale) {
  return std::abs(x) <= kMostPlotted && std::abs(y) <= kMostPlotted &&
         (scale == AxisScale::kLinear || x > 0);
}

struct ChartExtent {
  double least = INFINITY, greatest = -INFINITY;
  void add(double value) {
    if (!(std::abs(value) <= kMostPlotted)) return;
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  [[nodiscard]] bool empty() const { return least > greatest; }
};

// The value that 98 of 100 do not exceed.
double most_reach(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !(std::abs(value) <= kMostPlotted); });
  if (values.empty()) return 0;
  const auto place = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) * 98 / 100);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

void extend(const ChartSeries& one, const ChartOptions& options, ChartExtent& x, ChartExtent& y) {
  // The wildest of many faint points leave the image at its top, or the first losses of a run
  // would flatten everything after them.
  const double ceiling = one.faint ? most_reach(one.y) : kMostPlotted;
  const double floor = options.y_floor.value_or(-kMostPlotted);
  for (std::size_t i = 0; i < one.x.size(); ++i) {
    if (!can_draw(one.x[i], one.y[i], options.x_scale)) continue;
    x.add(one.x[i]);
    y.add(std::clamp(one.y[i], floor, std::max(floor, ceiling)));
    if (one.low.empty()) continue;
    y.add(one.low[i]);
    y.add(one.high[i]);
  }
}

// A flat line lies in the middle of a range that fits its size.
Frame frame_of(ChartExtent x, ChartExtent y, const ChartOptions& options) {
  if (!options.x_names.empty()) {
    x = {-0.5, static_cast<double>(options.x_names.size()) - 0.5};
  }
  // An end that is given is a value that must be seen; the axis goes on to a round number.
  if (options.y_low) y.add(*options.y_low);
  if (options.y_high) y.add(*options.y_high);
  return {.x = make_axis(x.least, x.greatest,
                         {.scale = options.x_scale, .most_ticks = 7, .whole = options.whole_x}),
          .y = make_axis(y.least, y.greatest, {.most_ticks = 6, .round_ends = true}),
          .width = options.width - kLeft - kRight,
          .height = options.height - kTop - kBottom};
}

// All digits of a large number would not fit beside the axis: "1.5e+09".
std::string short_label(const Tick& tick) {
  constexpr double kMostInFull = 1e7;
  return std::abs(tick.value) < kMostInFull ? tick.label : fmt::format("{:.4g}", tick.value);
}

std::string y_label(const Tick& tick, bool percent) {
  return percent ? fmt::format("{:.4g} %", 100 * tick.value) : short_label(tick);
}

void add_grid(std::string& out, const Frame& frame, const ChartOptions& options) {
  const double bottom = frame.top + frame.height, right = frame.left + frame.width;
  out += "<g class=\"grid\">";
  for (const Tick& tick : frame.y.ticks) {
    out += fmt::format("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>",
                       frame.left, right, frame.at_y(tick.value), frame.at_y(tick.value));
  }
  out += "</g>";
  for (const Tick& tick : frame.y.ticks) {
    out +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", frame.left - 6,
                    frame.at_y(tick.value) + 4, escape_html(y_label(tick, options.percent)));
  }
  const auto x_text = [&](double place, const std::string& text) {
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>", place,
                       bottom + 16, escape_html(text));
  };
  if (options.x_names.empty()) {
    for (const Tick& tick : frame.x.ticks) x_text(frame.at_x(tick.value), short_label(tick));
  }
  for (std::size_t i = 0; i < options.x_names.size(); ++i) {
    x_text(frame.at_x(static_cast<double>(i)), options.x_names[i]);
  }
  out += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>"
      "<line class=\"axis\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>",
      frame.left + frame.width / 2, bottom + 31, escape_html(options.x_name), frame.left, right,
      bottom, bottom);
}

std::string line_of(const ChartSeries& one, const Frame& frame) {
  std::string path;
  bool joined = false;
  for (std::size_t i = 0; i < one.x.size(); ++i) {
    if (!can_draw(one.x[i], one.y[i], frame.x.scale)) {
      joined = false;
      continue;
    }
    path += fmt::format("{}{:.1f} {:.1f}", joined ? 'L' : 'M', frame.at_x(one.x[i]),
                        frame.at_y(one.y[i]));
    joined = true;
  }
  return path;
}

std::string values_text(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) {
    text += fmt::format("{}{:.6g}", text.empty() ? "" : " ", value);
  }
  return text;
}

void add_points(std::string& out, const ChartSeries& one, const Frame& frame) {
  out += fmt::format("<g class=\"series points c{}\">", one.colour % kChartColours);
  for (std::size_t i = 0; i < one.x.size(); ++i) {
    if (!can_draw(one.x[i], one.y[i], frame.x.scale)) continue;
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.4\"/>", frame.at_x(one.x[i]),
                       frame.at_y(one.y[i]));
  }
  out += "</g>";
}

void add_series(std::string& out, const ChartSeries& one, const Frame& frame) {
  constexpr std::size_t kMostDots = 60;
  if (one.points) return add_points(out, one, frame);
  const bool still = one.faint || one.still;
  out += fmt::format(
      "<g class=\"series c{0}{1}{2}\" data-name=\"{3}\" data-colour=\"c{0}\" data-x=\"{4}\" "
      "data-y=\"{5}\"><path d=\"{6}\"/>",
      one.colour % kChartColours, one.faint ? " faint" : "", one.dashed ? " dashed" : "",
      escape_html(one.name), still ? "" : values_text(one.x), still ? "" : values_text(one.y),
      line_of(one, frame));
  for (std::size_t i = 0; i < one.low.size(); ++i) {
    if (!can_draw(one.x[i], one.y[i], frame.x.scale) || !(one.low[i] < one.high[i])) continue;
    out += fmt::format("<path class=\"spread\" d=\"M{0:.1f} {1:.1f}V{2:.1f}\"/>",
                       frame.at_x(one.x[i]), frame.at_y(one.low[i]), frame.at_y(one.high[i]));
  }
  // A lone point would otherwise not be seen.
  if ((one.dots && one.x.size() <= kMostDots) || one.x.size() == 1) {
    for (std::size_t i = 0; i < one.x.size(); ++i) {
      if (!can_draw(one.x[i], one.y[i], frame.x.scale)) continue;
      out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.2\"/>", frame.at_x(one.x[i]),
                         frame.at_y(one.y[i]));
    }
  }
  out += "</g>";
}

void add_legend(std::string& out, std::span<const ChartSeries> series) {
  std::string items;
  for (const ChartSeries& one : series) {
    if (one.name.empty() || one.faint) continue;
    items +=
        fmt::format("<li class=\"c{}\">{}</li>", one.colour % kChartColours, escape_html(one.name));
  }
  if (!items.empty()) out += fmt::format("<ul class=\"legend\">{}</ul>", items);
}

}  // namespace

std::string svg_chart(std::span<const ChartSeries> series, const ChartOptions& options) {
  ChartExtent x, y;
  for (const ChartSeries& one : series) {
    STOKER_INVARIANT(one.x.size() == one.y.size(), "{} x, {} y", one.x.size(), one.y.size());
    extend(one, options, x, y);
  }
  if (x.empty() || y.empty()) return "";
  const Frame frame = frame_of(x, y, options);
  std::string out = fmt::format(
      "<figure class=\"chart\"><figcaption>{0}</figcaption><svg viewBox=\"0 0 {1} {2}\" "
      "role=\"img\" aria-label=\"{0}\" data-area=\"{3} {4} {5} {6}\" data-range=\"{7} {8}\" "
      "data-log=\"{9}\" data-xname=\"{10}\" data-unit=\"{11}\">",
      escape_html(options.title), options.width, options.height, frame.left, frame.top, frame.width,
      frame.height, frame.x.low, frame.x.high, options.x_scale == AxisScale::kLog2 ? 1 : 0,
      escape_html(options.x_name), options.percent ? "%" : "");
  add_grid(out, frame, options);
  for (const ChartSeries& one : series) add_series(out, one, frame);
  out += "</svg>";
  add_legend(out, series);
  return out + "</figure>\n";
}

}  // namespace stoker

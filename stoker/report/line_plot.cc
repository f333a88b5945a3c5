#include "stoker/report/line_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/report/font.h"
#include "stoker/report/page.h"

namespace stoker {
namespace {

constexpr Colour kGrid{229, 232, 236};

// Apart from each other also for colour-blind people, and in a print without colours.
constexpr std::array<Colour, 7> kColours = {{{0, 114, 178},
                                             {213, 94, 0},
                                             {0, 158, 115},
                                             {170, 80, 140},
                                             {230, 159, 0},
                                             {86, 180, 233},
                                             {75, 75, 75}}};
constexpr std::array kMarks = {Mark::kDisc, Mark::kSquare, Mark::kDiamond};

constexpr double kLineWidth = 2.5;
constexpr double kMarkRadius = 4.5;
constexpr double kPointRadius = 2.2;  // of points that are not joined
constexpr double kFurthest = 1e7;     // pixels from the page, where lines that leave it end
constexpr int kLineReach = 2;         // how far a line may stick out of the plot's area
constexpr int kMarkReach = 8;         // the same for a mark
constexpr int kInset = 14;            // between the y axis and the first point
constexpr int kPlotGap = 10;
constexpr int kTickLength = 5;
constexpr int kLeastArea = 120;
constexpr int kLabelGap = 14;  // between labels of the x axis
constexpr int kSwatchWidth = 30;
constexpr int kSwatchGap = 8;
constexpr int kEntryGap = 28;
constexpr int kMaxNameWidth = 320;
constexpr int kLegendLine = kTextLine + 6;

struct Range {
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();

  void add(double value) {
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
};

// What the axes must show.
struct PlotExtent {
  Range x;
  Range y;
  bool empty = true;
  bool whole_x = true;
};

bool plotted(double value) { return std::abs(value) <= kMostPlotted; }  // false for NaN

bool is_point(const PlotSeries& series, std::size_t i) {
  return plotted(series.x[i]) && plotted(series.y[i]);
}

void check_series(const PlotSeries& series, AxisScale x_scale) {
  if (series.x.size() != series.y.size()) {
    throw Error(
        {.what = fmt::format("a point of the series \"{}\" lacks a coordinate", series.name),
         .expected = fmt::format("{} y, one for each x", series.x.size()),
         .found = fmt::format("{}", series.y.size())});
  }
  if (x_scale == AxisScale::kLinear) return;
  const auto wrong = std::ranges::find_if(series.x, [](double x) { return x <= 0; });
  if (wrong == series.x.end()) return;
  throw Error({.what = fmt::format("cannot show \"{}\" on a logarithmic axis", series.name),
               .expected = "x greater than 0",
               .found = fmt::format("{}", *wrong)});
}

PlotExtent measure(std::span<const PlotSeries> all, const LinePlotOptions& options) {
  if (all.empty()) throw Error({.what = "a plot needs at least one series", .found = "none"});
  PlotExtent extent;
  for (const PlotSeries& series : all) {
    check_series(series, options.x_scale);
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!is_point(series, i)) continue;
      extent.x.add(series.x[i]);
      extent.y.add(series.y[i]);
      extent.empty = false;
      extent.whole_x = extent.whole_x && series.x[i] == std::floor(series.x[i]);
    }
  }
  if (!extent.empty) return extent;
  const double first = options.x_scale == AxisScale::kLinear ? 0 : 1;
  return {.x = {first, first + 1}, .y = {0, 1}, .whole_x = false};
}

void check_page(const LinePlotOptions& options) {
  if (options.width < 1 || options.height < 1) {
    throw Error({.what = "cannot draw a plot of this size",
                 .expected = "a width and a height greater than 0",
                 .found = fmt::format("{}x{} pixels", options.height, options.width)});
  }
  check_page_size(options.height, options.width, "plot", "Take a smaller width or height.");
}

void check_area(const Rect& area) {
  if (area.width >= kLeastArea && area.height >= kLeastArea) return;
  throw Error({.what = "the plot's text leaves no room for its lines",
               .expected = fmt::format("{0}x{0} pixels or more", kLeastArea),
               .found = fmt::format("{}x{}", std::max(area.height, 0), std::max(area.width, 0)),
               .hint = "Take a larger width or height, or fewer series."});
}

// Where a legend's entry stands.
struct Entry {
  std::size_t series = 0;
  int x = 0;
  int line = 0;
  std::string name = {};
};

std::vector<Entry> legend_entries(std::span<const PlotSeries> series, int page_width) {
  std::vector<Entry> entries;
  int x = kMargin;
  int line = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (series[i].name.empty()) continue;
    const int room = std::max(page_width - 2 * kMargin - kSwatchWidth - kSwatchGap, 0);
    const std::string name = fit_text(series[i].name, std::min(room, kMaxNameWidth), kTextScale);
    const int width = kSwatchWidth + kSwatchGap + text_width(name, kTextScale);
    if (x > kMargin && x + width > page_width - kMargin) {
      x = kMargin;
      ++line;
    }
    entries.push_back({i, x, line, name});
    x += width + kEntryGap;
  }
  return entries;
}

int widest_label(const Axis& axis) {
  int widest = 0;
  for (const Tick& tick : axis.ticks) {
    widest = std::max(widest, text_width(tick.label, kTextScale));
  }
  return widest;
}

int title_room(const std::string& title) { return title.empty() ? 0 : kTextLine + kPlotGap; }

PlotLayout plan(std::span<const PlotSeries> series, const LinePlotOptions& options,
                const PlotExtent& extent) {
  check_page(options);
  PlotLayout layout;
  layout.page = {options.height, options.width, 3};
  layout.legend_y = kMargin + (options.title.empty() ? 0 : kTextLine + kTitleGap);
  const std::vector<Entry> entries = legend_entries(series, options.width);
  const int legend = entries.empty() ? 0 : (entries.back().line + 1) * kLegendLine + kPlotGap;

  Rect& area = layout.area;
  area.y = layout.legend_y + legend;
  const int below = kTickLength + kPlotGap + kTextLine + title_room(options.x_title) + kMargin;
  area.height = options.height - below - area.y;
  layout.y = make_axis(extent.y.least, extent.y.greatest,
                       {.most_ticks = std::clamp(area.height / 60, 5, 10),
                        .round_ends = true,
                        .low = options.y_min,
                        .high = options.y_max});
  area.x = kMargin + title_room(options.y_title) + widest_label(layout.y) + kPlotGap + kTickLength;
  area.width = options.width - kMargin - area.x;
  check_area(area);
  layout.x = make_axis(extent.x.least, extent.x.greatest,
                       {.scale = options.x_scale,
                        .most_ticks = std::clamp(area.width / 70, 5, 16),
                        .whole = extent.whole_x});
  return layout;
}

void draw_x_axis(const MutableImageView& out, const PlotLayout& layout) {
  const Rect& area = layout.area;
  const int bottom = area.y + area.height;
  int free_from = 0;
  for (const Tick& tick : layout.x.ticks) {
    const int x = static_cast<int>(std::floor(layout.place(tick.value, layout.y.low).x));
    fill_rect(out, {x, area.y, 1, area.height}, kGrid);
    fill_rect(out, {x, bottom, 1, kTickLength}, kPaleInk);
    const int width = text_width(tick.label, kTextScale);
    // Labels that would touch the one before or the border are omitted.
    const int left = x - width / 2;
    if (left < free_from || left + width > out.shape.width) continue;
    draw_text(out, left, bottom + kTickLength + kPlotGap, tick.label, kPaleInk, kTextScale);
    free_from = left + width + kLabelGap;
  }
}

void draw_y_axis(const MutableImageView& out, const PlotLayout& layout) {
  const Rect& area = layout.area;
  for (const Tick& tick : layout.y.ticks) {
    const int y = static_cast<int>(std::floor(layout.place(layout.x.low, tick.value).y));
    fill_rect(out, {area.x, y, area.width, 1}, kGrid);
    fill_rect(out, {area.x - kTickLength, y, kTickLength, 1}, kPaleInk);
    const int right = area.x - kTickLength - kPlotGap;
    const int top = y - kCapHeight * kTextScale / 2;
    draw_text(out, right - text_width(tick.label, kTextScale), top, tick.label, kPaleInk,
              kTextScale);
  }
}

void draw_axes(const MutableImageView& out, const PlotLayout& layout) {
  draw_x_axis(out, layout);
  draw_y_axis(out, layout);
  const Rect& area = layout.area;
  fill_rect(out, {area.x - 1, area.y, 1, area.height + 1}, kPaleInk);
  fill_rect(out, {area.x - 1, area.y + area.height, area.width + 1, 1}, kPaleInk);
}

void draw_axis_titles(const MutableImageView& out, const PlotLayout& layout,
                      const LinePlotOptions& options) {
  const Rect& area = layout.area;
  draw_text_line(out, out.shape.height - kMargin - kTextLine,
                 {{area.x, area.width, true, options.x_title}}, kInk);
  const std::string text = fit_text(options.y_title, area.height, kTextScale);
  const int bottom = area.y + (area.height + text_width(text, kTextScale)) / 2;
  draw_text_upwards(out, kMargin, bottom, text, kInk, kTextScale);
}

// The points of a series on the page, gaps between the runs.
std::vector<std::vector<Point>> runs_of(const PlotSeries& series, const PlotLayout& layout) {
  std::vector<std::vector<Point>> runs;
  bool open = false;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const bool point = is_point(series, i);
    if (point && !open) runs.emplace_back();
    if (point) runs.back().push_back(layout.place(series.x[i], series.y[i]));
    open = point;
  }
  return runs;
}

// On average a mark has at least three times its width for itself.
bool has_room_for_marks(const PlotSeries& series, const PlotLayout& layout) {
  return static_cast<double>(series.x.size()) * 6 * kMarkRadius <= layout.area.width;
}

void draw_series(const MutableImageView& out, const PlotLayout& layout, const PlotSeries& series,
                 std::size_t index, bool markers) {
  const Rect& area = layout.area;
  // A line along an end of the y axis keeps its width.
  Coverage lines({area.x, area.y - kLineReach, area.width, area.height + 2 * kLineReach});
  Coverage marks(
      {area.x, area.y - kMarkReach, area.width + kMarkReach, area.height + 2 * kMarkReach});
  const Mark mark = kMarks[index % kMarks.size()];
  const bool everywhere = markers && has_room_for_marks(series, layout);
  const auto inside = [&area](const Point& p) {
    return p.y >= area.y - 1 && p.y <= area.y + area.height + 1;
  };
  for (const std::vector<Point>& run : runs_of(series, layout)) {
    if (!series.joined) {
      for (const Point& point : run) {
        if (inside(point)) marks.add_mark(Mark::kDisc, point, kPointRadius);
      }
      continue;
    }
    for (std::size_t i = 1; i < run.size(); ++i) lines.add_line(run[i - 1], run[i], kLineWidth);
    if (!everywhere && run.size() > 1) continue;
    for (const Point& point : run) {
      if (inside(point)) marks.add_mark(mark, point, kMarkRadius);
    }
  }
  const Colour colour = kColours[index % kColours.size()];
  lines.paint(out, colour);
  marks.paint(out, colour);
}

void draw_legend(const MutableImageView& out, const PlotLayout& layout,
                 const std::vector<Entry>& entries) {
  for (const Entry& entry : entries) {
    const int y = layout.legend_y + entry.line * kLegendLine;
    const double middle = y + kCapHeight * kTextScale / 2.0;
    Coverage swatch({entry.x, y - 2, kSwatchWidth, kTextLine});
    swatch.add_line({entry.x + 2.0, middle}, {entry.x + kSwatchWidth - 2.0, middle}, kLineWidth);
    swatch.add_mark(kMarks[entry.series % kMarks.size()], {entry.x + kSwatchWidth / 2.0, middle},
                    kMarkRadius);
    swatch.paint(out, kColours[entry.series % kColours.size()]);
    draw_text(out, entry.x + kSwatchWidth + kSwatchGap, y, entry.name, kInk, kTextScale);
  }
}

void draw_no_data(const MutableImageView& out, const Rect& area) {
  constexpr std::string_view kText = "no data";
  const int width = text_width(kText, kTextScale);
  const int x = area.x + (area.width - width) / 2;
  const int y = area.y + (area.height - kTextLine) / 2;
  fill_rect(out, {x - kPlotGap, y - kPlotGap, width + 2 * kPlotGap, kTextLine + 2 * kPlotGap},
            kPaper);
  draw_text(out, x, y, kText, kPaleInk, kTextScale);
}

}  // namespace

Point PlotLayout::place(double x_value, double y_value) const {
  const auto bounded = [](double place) { return std::clamp(place, -kFurthest, kFurthest); };
  return {bounded(area.x + kInset + x.share(x_value) * (area.width - 2 * kInset)),
          bounded(area.y + (1 - y.share(y_value)) * area.height)};
}

PlotLayout plan_line_plot(std::span<const PlotSeries> series, const LinePlotOptions& options) {
  return plan(series, options, measure(series, options));
}

Image line_plot(std::span<const PlotSeries> series, const LinePlotOptions& options) {
  const PlotExtent extent = measure(series, options);
  const PlotLayout layout = plan(series, options, extent);
  Image page = blank_page(layout.page);
  const MutableImageView out = page.view();
  draw_title(out, options.title);
  draw_legend(out, layout, legend_entries(series, options.width));
  draw_axes(out, layout);
  draw_axis_titles(out, layout, options);
  for (std::size_t i = 0; i < series.size(); ++i) {
    draw_series(out, layout, series[i], i, options.markers);
  }
  if (extent.empty) draw_no_data(out, layout.area);
  return page;
}

}  // namespace stoker

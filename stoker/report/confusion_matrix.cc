#include "stoker/report/confusion_matrix.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/report/font.h"
#include "stoker/report/page.h"

namespace stoker {
namespace {

// From almost nothing of a row, yet not white, over half of it to all of it.
constexpr Colour kFaint{232, 241, 250};
constexpr Colour kHalf{74, 144, 196};
constexpr Colour kFull{8, 48, 107};

constexpr std::int64_t kMostWithCounts = 40;
constexpr std::int64_t kMostWithLargeText = 16;
constexpr int kLongestSide = 1000;  // of the cells, where they hold no text
constexpr int kMaxClassWidth = 240;
constexpr int kMaxTitleWidth = 600;  // a narrow matrix gets a page as wide as its title, up to this
constexpr int kMatrixGap = 8;
constexpr int kAxisGap = 14;  // between names and the title of their axis
constexpr int kBarWidth = 16;
constexpr int kBarGap = 24;
constexpr std::string_view kBarTop = "100 %";
constexpr std::string_view kBarBottom = "0 %";

struct MatrixLayout {
  int classes = 0;
  int cell = 0;         // pixels a side
  int scale = 1;        // of names and counts
  int name_stride = 1;  // every how many classes a name fits
  int name_width = 0;
  bool with_counts = false;
  bool numbered = false;  // too small for names: 0, 50, 100, … instead
  bool names_upwards = false;
  Rect cells = {};
  ImageShape page = {};

  [[nodiscard]] int row_y(int row) const { return cells.y + row * cell; }
  [[nodiscard]] int column_x(int column) const { return cells.x + column * cell; }
};

// At most five characters: 12345, 123k, 1.2M, 12M, ….
std::string short_count(std::int64_t count) {
  constexpr std::string_view kUnits = "kMGTPE";
  if (count < 100'000) return fmt::format("{}", count);
  std::size_t unit = 0;
  std::int64_t thousandths = count;  // of the unit
  while (thousandths >= 1'000'000) {
    thousandths /= 1000;
    ++unit;
  }
  if (thousandths >= 10'000) return fmt::format("{}{}", thousandths / 1000, kUnits[unit]);
  return fmt::format("{}.{}{}", thousandths / 1000, thousandths % 1000 / 100, kUnits[unit]);
}

void check_input(std::span<const std::int64_t> counts, std::size_t classes) {
  if (classes == 0) {
    throw Error({.what = "a confusion matrix needs at least one class", .found = "none"});
  }
  // Divided, because a product could overflow.
  if (counts.size() % classes != 0 || counts.size() / classes != classes) {
    throw Error({.what = "a confusion matrix has a row and a column for each class",
                 .expected = fmt::format("{0} times {0} counts", classes),
                 .found = fmt::format("{} counts", counts.size())});
  }
  const auto negative = std::ranges::find_if(counts, [](std::int64_t count) { return count < 0; });
  if (negative == counts.end()) return;
  throw Error({.what = "a confusion matrix counts samples",
               .expected = "0 or more",
               .found = fmt::format("{}", *negative)});
}

std::string name_of(const MatrixLayout& layout, std::span<const std::string> names, int index) {
  if (layout.numbered) return fmt::format("{}", index);
  return fit_text(names[static_cast<std::size_t>(index)], kMaxClassWidth, layout.scale);
}

int widest_name(const MatrixLayout& layout, std::span<const std::string> names) {
  int widest = 0;
  for (int i = 0; i < layout.classes; i += layout.name_stride) {
    widest = std::max(widest, text_width(name_of(layout, names, i), layout.scale));
  }
  return widest;
}

int widest_count(std::span<const std::int64_t> counts, int scale) {
  int widest = 0;
  for (const std::int64_t count : counts) {
    widest = std::max(widest, text_width(short_count(count), scale));
  }
  return widest;
}

// How large a cell is and what is written in and beside it.
MatrixLayout choose_cells(std::span<const std::int64_t> counts, std::int64_t classes) {
  MatrixLayout layout;
  layout.classes = static_cast<int>(classes);
  layout.scale = classes <= kMostWithLargeText ? kTextScale : 1;
  layout.with_counts = classes <= kMostWithCounts;
  if (layout.with_counts) {
    const int least = classes <= 4 ? 80 : classes <= kMostWithLargeText ? 48 : 26;
    layout.cell = std::max(least, widest_count(counts, layout.scale) + 5 * layout.scale);
    return layout;
  }
  layout.cell = static_cast<int>(std::max<std::int64_t>(1, kLongestSide / classes));
  layout.numbered = layout.cell < kTextHeight + 1;
  // Numbers, standing upright below the cells, need their height twice over.
  while (layout.numbered && layout.name_stride * layout.cell < 3 * kTextHeight) {
    layout.name_stride *= layout.name_stride % 10 == 5 ? 2 : 5;
  }
  return layout;
}

int title_height(const std::string& title) { return title.empty() ? 0 : kTextLine; }

MatrixLayout plan(std::span<const std::int64_t> counts, std::span<const std::string> names,
                  const ConfusionMatrixOptions& options) {
  const auto classes = static_cast<std::int64_t>(names.size());
  check_page_size(classes, classes, "confusion matrix", "Show fewer classes.");
  check_input(counts, names.size());
  MatrixLayout layout = choose_cells(counts, classes);
  layout.name_width = widest_name(layout, names);
  layout.names_upwards = layout.name_width > layout.cell * layout.name_stride - 3 * layout.scale;

  const int below = layout.names_upwards ? layout.name_width : kTextHeight * layout.scale;
  const int side = layout.cell * layout.classes;
  const int rows_title = title_height(options.rows_title);
  const int columns_title = title_height(options.columns_title);
  layout.cells = {kMargin + rows_title + kAxisGap + layout.name_width + kMatrixGap,
                  kMargin + (options.title.empty() ? 0 : kTextLine + kTitleGap), side, side};
  const std::int64_t height =
      std::int64_t{layout.cells.y} + side + kMatrixGap + below + kAxisGap + columns_title + kMargin;
  const int title_width = std::min(text_width(options.title, kTextScale), kMaxTitleWidth);
  const std::int64_t width = std::max(std::int64_t{layout.cells.x} + side + kBarGap + kBarWidth +
                                          kMatrixGap + text_width(kBarTop, 1) + kMargin,
                                      title_width + std::int64_t{2} * kMargin);
  check_page_size(height, width, "confusion matrix", "Show fewer classes.");
  layout.page = {static_cast<int>(height), static_cast<int>(width), 3};
  return layout;
}

Colour between(Colour from, Colour to, int weight) {
  const auto mix = [weight](int a, int b) {
    return static_cast<std::uint8_t>((a * (128 - weight) + b * weight + 64) / 128);
  };
  return {mix(from.red, to.red), mix(from.green, to.green), mix(from.blue, to.blue)};
}

// weight 0 to 256
Colour shade(int weight) {
  return weight < 128 ? between(kFaint, kHalf, weight) : between(kHalf, kFull, weight - 128);
}

void draw_cell(const MutableImageView& out, const MatrixLayout& layout, const Rect& cell,
               std::int64_t count, double row_sum) {
  if (count == 0) return;
  const int weight = static_cast<int>(std::floor(static_cast<double>(count) / row_sum * 256 + 0.5));
  fill_rect(out, cell, shade(weight));
  if (!layout.with_counts) return;
  const std::string text = short_count(count);
  const int x = cell.x + (cell.width - text_width(text, layout.scale)) / 2;
  const int y = cell.y + (cell.height - kCapHeight * layout.scale) / 2;
  draw_text(out, x, y, text, weight > 110 ? kPaper : kInk, layout.scale);
}

void draw_cells(const MutableImageView& out, const MatrixLayout& layout,
                std::span<const std::int64_t> counts) {
  const auto n = static_cast<std::size_t>(layout.classes);
  const int gap = layout.with_counts ? 1 : 0;  // lets the grid show between the cells
  if (gap > 0) fill_rect(out, layout.cells, kLine);
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0;  // in 64-bit integers it could overflow
    for (std::size_t j = 0; j < n; ++j) sum += static_cast<double>(counts[i * n + j]);
    for (std::size_t j = 0; j < n; ++j) {
      const Rect cell{layout.column_x(static_cast<int>(j)), layout.row_y(static_cast<int>(i)),
                      layout.cell - gap, layout.cell - gap};
      fill_rect(out, cell, kPaper);
      draw_cell(out, layout, cell, counts[i * n + j], sum);
    }
  }
  frame_rect(out, layout.cells, kPaleInk);
}

void draw_names(const MutableImageView& out, const MatrixLayout& layout,
                std::span<const std::string> names) {
  const Rect& cells = layout.cells;
  const int cap = kCapHeight * layout.scale;
  const int below = cells.y + cells.height + kMatrixGap;
  for (int i = 0; i < layout.classes; i += layout.name_stride) {
    const std::string name = name_of(layout, names, i);
    const int width = text_width(name, layout.scale);
    const int y = layout.row_y(i) + (layout.cell - cap) / 2;
    draw_text(out, cells.x - kMatrixGap - width, y, name, kInk, layout.scale);
    if (layout.names_upwards) {
      const int x = layout.column_x(i) + (layout.cell - cap) / 2;
      draw_text_upwards(out, x, below + width, name, kInk, layout.scale);
    } else {
      const int x = layout.column_x(i) + (layout.cell - width) / 2;
      draw_text(out, x, below, name, kInk, layout.scale);
    }
  }
}

void draw_axis_titles(const MutableImageView& out, const MatrixLayout& layout,
                      const ConfusionMatrixOptions& options) {
  const Rect& cells = layout.cells;
  // In the middle of the rows; a longer one starts beside the first row, below the page's title.
  const int most = out.shape.height - kMargin - cells.y;
  const std::string rows = fit_text(options.rows_title, most, kTextScale);
  const int rows_width = text_width(rows, kTextScale);
  const int bottom = cells.y + std::max((cells.height + rows_width) / 2, rows_width);
  draw_text_upwards(out, kMargin, bottom, rows, kPaleInk, kTextScale);
  const int right = out.shape.width - kMargin;
  const int width = text_width(options.columns_title, kTextScale);
  const int centred = std::min(cells.x + (cells.width - width) / 2, right - width);
  const int x = std::max(centred, kMargin);
  draw_text_line(out, out.shape.height - kMargin - kTextLine,
                 {{x, right - x, false, options.columns_title}}, kPaleInk);
}

// What a shade means.
void draw_bar(const MutableImageView& out, const MatrixLayout& layout) {
  const Rect bar{layout.cells.x + layout.cells.width + kBarGap, layout.cells.y, kBarWidth,
                 std::min(layout.cells.height, 240)};
  for (int y = 0; y < bar.height; ++y) {
    const int weight = 256 - 256 * y / std::max(bar.height - 1, 1);
    fill_rect(out, {bar.x, bar.y + y, bar.width, 1}, shade(weight));
  }
  frame_rect(out, bar, kPaleInk);
  const int x = bar.x + bar.width + kMatrixGap;
  draw_text(out, x, bar.y, kBarTop, kPaleInk, 1);
  draw_text(out, x, bar.y + bar.height - kCapHeight, kBarBottom, kPaleInk, 1);
}

}  // namespace

Image confusion_matrix(std::span<const std::int64_t> counts,
                       std::span<const std::string> class_names,
                       const ConfusionMatrixOptions& options) {
  const MatrixLayout layout = plan(counts, class_names, options);
  Image page = blank_page(layout.page);
  const MutableImageView out = page.view();
  draw_title(out, options.title);
  draw_cells(out, layout, counts);
  draw_names(out, layout, class_names);
  draw_axis_titles(out, layout, options);
  draw_bar(out, layout);
  return page;
}

Rect confusion_matrix_cells(std::span<const std::int64_t> counts,
                            std::span<const std::string> class_names,
                            const ConfusionMatrixOptions& options) {
  return plan(counts, class_names, options).cells;
}

}  // namespace stoker

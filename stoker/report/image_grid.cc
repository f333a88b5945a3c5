#include "stoker/report/image_grid.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/report/canvas.h"
#include "stoker/report/font.h"
#include "stoker/report/page.h"

namespace stoker {
namespace {

constexpr Colour kRight{21, 128, 61};
constexpr Colour kWrong{200, 30, 30};

constexpr int kSmallestImage = 96;  // what zoom 0 reaches
constexpr int kGridGap = 16;        // between cells
constexpr int kTextGap = 6;         // between an image and its text

struct GridLayout {
  int zoom = 1;
  int columns = 0;
  int cell_width = 0;
  int image_height = 0;
  int cell_height = 0;  // with the text below
  int grid_y = 0;
  int text_scale = 1;  // of all labels and predictions
  int text_width = 0;  // what each may take
  bool with_labels = false;
  bool with_predictions = false;
  ImageShape page = {};

  [[nodiscard]] int line_height() const { return (kTextHeight + 1) * text_scale; }

  // Of the image within cell `index`.
  [[nodiscard]] Rect image_area(int index) const {
    return {kMargin + index % columns * (cell_width + kGridGap),
            grid_y + index / columns * (cell_height + kGridGap), cell_width, image_height};
  }
};

void check_count(const char* name, int value) {
  if (value >= 1) return;
  throw Error({.what = fmt::format("cannot draw a grid of images with this number of {}", name),
               .expected = "1 or more",
               .found = fmt::format("{}", value)});
}

std::span<const GridCell> shown(const std::vector<GridCell>& cells,
                                const ImageGridOptions& options) {
  check_count("columns", options.columns);
  check_count("rows", options.rows);
  if (cells.empty()) {
    throw Error({.what = "a grid of images needs at least one image", .found = "none"});
  }
  const auto places = static_cast<std::size_t>(options.columns) * options.rows;
  return std::span(cells).first(std::min(places, cells.size()));
}

// The smallest shape that holds every image.
ImageShape largest(std::span<const GridCell> cells) {
  ImageShape shape;
  for (const GridCell& cell : cells) {
    const ImageShape& own = cell.image.shape();
    check_shape(own);
    shape = {std::max(shape.height, own.height), std::max(shape.width, own.width),
             std::max(shape.channels, own.channels)};
  }
  return shape;
}

std::string prediction_text(const GridPrediction& prediction) {
  if (!std::isfinite(prediction.probability)) return fmt::format("{} (?)", prediction.name);
  return fmt::format("{} ({:.0f} %)", prediction.name, prediction.probability * 100);
}

int widest_text(std::span<const GridCell> cells, int scale) {
  int widest = 0;
  for (const GridCell& cell : cells) {
    widest = std::max(widest, text_width(cell.label, scale));
    if (!cell.prediction) continue;
    widest = std::max(widest, text_width(prediction_text(*cell.prediction), scale));
  }
  return widest;
}

void check_grid_size(std::int64_t height, std::int64_t width) {
  check_page_size(height, width, "grid of images", "Show fewer images or take a smaller zoom.");
}

// What is written below the images, which are cell_width pixels wide.
void plan_text(GridLayout& layout, std::span<const GridCell> cells) {
  layout.with_labels =
      std::ranges::any_of(cells, [](const GridCell& p) { return !p.label.empty(); });
  layout.with_predictions =
      std::ranges::any_of(cells, [](const GridCell& p) { return p.prediction.has_value(); });
  // Names may reach into the gaps, as far as two neighbours stay apart.
  layout.text_width = layout.cell_width + kGridGap - kTextGap;
  const bool fits = widest_text(cells, kTextScale) <= layout.text_width;
  layout.text_scale = fits ? kTextScale : 1;
  const int lines = (layout.with_labels ? 1 : 0) + (layout.with_predictions ? 1 : 0);
  layout.cell_height = layout.image_height;
  if (lines > 0) layout.cell_height += kTextGap + lines * layout.line_height();
}

GridLayout plan(std::span<const GridCell> cells, const ImageGridOptions& options) {
  const ImageShape image = largest(cells);
  GridLayout layout;
  layout.zoom = resolve_zoom(options.zoom, std::max(image.height, image.width), kSmallestImage);
  layout.grid_y = kMargin + (options.title.empty() ? 0 : kTextLine + kTitleGap);
  const std::int64_t cell_width = std::int64_t{image.width} * layout.zoom;
  const std::int64_t image_height = std::int64_t{image.height} * layout.zoom;
  check_grid_size(image_height, cell_width);
  layout.cell_width = static_cast<int>(cell_width);
  layout.image_height = static_cast<int>(image_height);
  plan_text(layout, cells);

  const auto count = static_cast<std::int64_t>(cells.size());
  const std::int64_t columns = std::min<std::int64_t>(options.columns, count);
  const std::int64_t rows = (count + columns - 1) / columns;
  const std::int64_t height =
      layout.grid_y + rows * (layout.cell_height + kGridGap) - kGridGap + kMargin;
  const std::int64_t width =
      columns * (cell_width + kGridGap) - kGridGap + std::int64_t{2} * kMargin;
  check_grid_size(height, width);
  layout.columns = static_cast<int>(columns);
  const int channels = layout.with_predictions ? 3 : image.channels;
  layout.page = {static_cast<int>(height), static_cast<int>(width), channels};
  return layout;
}

void draw_cell(const MutableImageView& out, const GridLayout& layout, int index,
               const GridCell& cell) {
  const Rect area = layout.image_area(index);
  draw_framed_image(out, area, cell.image.view(), layout.zoom);
  int y = area.y + area.height + kTextGap;
  const auto draw = [&](const std::string& text, Colour colour) {
    const std::string fitted = fit_text(text, layout.text_width, layout.text_scale);
    const int x = area.x + (area.width - text_width(fitted, layout.text_scale)) / 2;
    draw_text(out, x, y, fitted, colour, layout.text_scale);
    y += layout.line_height();
  };
  if (layout.with_labels) draw(cell.label, kInk);
  if (!cell.prediction) return;
  draw(prediction_text(*cell.prediction), cell.prediction->right ? kRight : kWrong);
}

}  // namespace

Image image_grid(const std::vector<GridCell>& cells, const ImageGridOptions& options) {
  const std::span<const GridCell> drawn = shown(cells, options);
  const GridLayout layout = plan(drawn, options);
  Image page = blank_page(layout.page);
  draw_title(page.view(), options.title);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    draw_cell(page.view(), layout, static_cast<int>(i), drawn[i]);
  }
  return page;
}

}  // namespace stoker

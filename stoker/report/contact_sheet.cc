#include "stoker/report/contact_sheet.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/report/canvas.h"
#include "stoker/report/font.h"
#include "stoker/report/page.h"

namespace stoker {
namespace {

// All in pixels of the sheet.
constexpr int kCellGap = 8;    // between cells
constexpr int kGroupGap = 32;  // between the original and the augmented; a line runs through it
constexpr int kClassGap = 20;  // between class name and original
constexpr int kMaxLabelWidth = 240;
constexpr int kSmallestCell = 64;  // what zoom 0 reaches
constexpr int kHeaderGap = 10;

// What the images ask for, before any limit is checked.
struct SheetExtent {
  std::int64_t columns = 0;
  int height = 0;
  int width = 0;
  int channels = 1;
  int label_width = 0;
};

// Every position on the sheet. plan() has proved that they all fit in int.
struct SheetLayout {
  int zoom = 1;
  int columns = 0;
  int cell_width = 0;
  int cell_height = 0;
  int grid_x = 0;  // left border of the originals
  int grid_y = 0;  // upper border of the first row
  int header_y = 0;
  ImageShape sheet = {};

  [[nodiscard]] int column_x(int column) const {
    const int group_gap = column > 0 ? kGroupGap - kCellGap : 0;
    return grid_x + column * (cell_width + kCellGap) + group_gap;
  }
  [[nodiscard]] int row_y(int row) const { return grid_y + row * (cell_height + kCellGap); }
};

void add_row(SheetExtent& extent, const ContactRow& row, std::size_t index) {
  if (row.images.empty()) {
    throw Error({.what = fmt::format("row {} of the contact sheet has no image", index)});
  }
  extent.columns = std::max(extent.columns, static_cast<std::int64_t>(row.images.size()));
  extent.label_width = std::max(extent.label_width, text_width(row.label, kTextScale));
  for (const Image& image : row.images) {
    check_shape(image.shape());
    extent.height = std::max(extent.height, image.shape().height);
    extent.width = std::max(extent.width, image.shape().width);
    extent.channels = std::max(extent.channels, image.shape().channels);
  }
}

SheetExtent measure(const std::vector<ContactRow>& rows) {
  if (rows.empty()) {
    throw Error({.what = "a contact sheet needs at least one row", .found = "none"});
  }
  SheetExtent extent;
  for (std::size_t i = 0; i < rows.size(); ++i) add_row(extent, rows[i], i);
  extent.label_width = std::min(extent.label_width, kMaxLabelWidth);
  return extent;
}

void check_sheet_size(std::int64_t height, std::int64_t width) {
  check_page_size(height, width, "contact sheet",
                  "Show fewer samples or versions, or take a smaller zoom.");
}

SheetLayout plan(const std::vector<ContactRow>& rows, const ContactSheetOptions& options) {
  const SheetExtent extent = measure(rows);
  SheetLayout layout;
  // By the longer side, so that a narrow strip is not blown up.
  layout.zoom = resolve_zoom(options.zoom, std::max(extent.height, extent.width), kSmallestCell);
  layout.header_y = kMargin + (options.title.empty() ? 0 : kTextLine + kTitleGap);
  layout.grid_y = layout.header_y + (options.column_titles.empty() ? 0 : kTextLine + kHeaderGap);
  layout.grid_x = kMargin + (extent.label_width > 0 ? extent.label_width + kClassGap : 0);

  // In 64 bits a cell is below 2^51 and is checked before it is multiplied further.
  // Never lower than its label.
  const std::int64_t cell_height =
      std::max<std::int64_t>(std::int64_t{extent.height} * layout.zoom, kTextLine);
  const std::int64_t cell_width = std::int64_t{extent.width} * layout.zoom;
  check_sheet_size(cell_height, cell_width);
  const auto row_count = static_cast<std::int64_t>(rows.size());
  const std::int64_t group_gap = extent.columns > 1 ? kGroupGap - kCellGap : 0;
  const std::int64_t height =
      layout.grid_y + row_count * (cell_height + kCellGap) - kCellGap + kMargin;
  const std::int64_t width =
      layout.grid_x + extent.columns * (cell_width + kCellGap) - kCellGap + group_gap + kMargin;
  check_sheet_size(height, width);

  layout.columns = static_cast<int>(extent.columns);
  layout.cell_height = static_cast<int>(cell_height);
  layout.cell_width = static_cast<int>(cell_width);
  layout.sheet = {static_cast<int>(height), static_cast<int>(width), extent.channels};
  return layout;
}

void draw_column_titles(const MutableImageView& out, const SheetLayout& layout,
                        const std::vector<std::string>& titles) {
  std::vector<TextSpot> spots;
  const auto count =
      static_cast<int>(std::min(titles.size(), static_cast<std::size_t>(layout.columns)));
  for (int i = 0; i < count; ++i) {
    const bool shared = i + 1 == count && count < layout.columns;
    // Beside the originals there is room enough to stick out.
    const int overhang = i == 0 && !shared ? kCellGap : 0;
    const int x = layout.column_x(i) - overhang;
    const int width = shared ? out.shape.width - kMargin - x : layout.cell_width + 2 * overhang;
    spots.push_back({x, width, !shared, titles[static_cast<std::size_t>(i)]});
  }
  draw_text_line(out, layout.header_y, spots, kPaleInk);
}

void draw_divider(const MutableImageView& out, const SheetLayout& layout) {
  if (layout.columns < 2) return;
  const int x = layout.column_x(1) - kGroupGap / 2;
  fill_rect(out, {x, layout.grid_y, 1, out.shape.height - kMargin - layout.grid_y}, kLine);
}

void draw_row(const MutableImageView& out, const SheetLayout& layout, int index,
              const ContactRow& row) {
  const int y = layout.row_y(index);
  const int label_y = y + (layout.cell_height - kCapHeight * kTextScale) / 2;
  const int label_width = std::max(0, layout.grid_x - kClassGap - kMargin);
  draw_text(out, kMargin, label_y, fit_text(row.label, label_width, kTextScale), kInk, kTextScale);
  for (std::size_t i = 0; i < row.images.size(); ++i) {
    const int x = layout.column_x(static_cast<int>(i));
    draw_framed_image(out, {x, y, layout.cell_width, layout.cell_height}, row.images[i].view(),
                      layout.zoom);
  }
}

}  // namespace

Image contact_sheet(const std::vector<ContactRow>& rows, const ContactSheetOptions& options) {
  const SheetLayout layout = plan(rows, options);
  Image sheet = blank_page(layout.sheet);
  const MutableImageView out = sheet.view();
  draw_title(out, options.title);
  draw_column_titles(out, layout, options.column_titles);
  draw_divider(out, layout);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    draw_row(out, layout, static_cast<int>(i), rows[i]);
  }
  return sheet;
}

}  // namespace stoker

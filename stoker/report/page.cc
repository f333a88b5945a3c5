#include "stoker/report/page.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker {

void check_page_size(std::int64_t height, std::int64_t width, std::string_view what,
                     std::string_view hint) {
  // Sides first: their product could overflow otherwise.
  if (height <= kMaxSide && width <= kMaxSide && height * width <= kMaxPagePixels) return;
  throw Error({.what = fmt::format("the {} would be too large", what),
               .expected = fmt::format("sides of at most {} and at most {} megapixels", kMaxSide,
                                       kMaxPagePixels / 1'000'000),
               .found = fmt::format("{}x{} pixels", height, width),
               .hint = std::string(hint)});
}

Image blank_page(const ImageShape& shape) {
  Image page(shape);
  fill_rect(page.view(), {0, 0, shape.width, shape.height}, kPaper);
  return page;
}

int resolve_zoom(int zoom, int longer_side, int smallest) {
  if (zoom < 0) {
    throw Error({.what = "cannot enlarge images by this zoom",
                 .expected = "a whole number, 0 to choose one",
                 .found = fmt::format("{}", zoom)});
  }
  return zoom > 0 ? zoom : (smallest + longer_side - 1) / longer_side;
}

void draw_framed_image(const MutableImageView& out, const Rect& cell, const ImageView& image,
                       int zoom) {
  const int width = image.shape.width * zoom;
  const int height = image.shape.height * zoom;
  const int left = cell.x + (cell.width - width) / 2;
  const int top = cell.y + (cell.height - height) / 2;
  draw_image(out, left, top, image, zoom);
  frame_rect(out, {left, top, width, height}, kLine);
}

void draw_text_line(const MutableImageView& out, int y, const std::vector<TextSpot>& spots,
                    Colour colour) {
  const bool fits = std::ranges::all_of(
      spots, [](const TextSpot& spot) { return text_width(spot.text, kTextScale) <= spot.width; });
  const int scale = fits ? kTextScale : 1;
  const int base_y = y + kCapHeight * (kTextScale - scale);
  for (const TextSpot& spot : spots) {
    const std::string text = fit_text(spot.text, spot.width, scale);
    const int indent = spot.centred ? (spot.width - text_width(text, scale)) / 2 : 0;
    draw_text(out, spot.x + indent, base_y, text, colour, scale);
  }
}

void draw_title(const MutableImageView& out, std::string_view title) {
  draw_text_line(out, kMargin, {{kMargin, out.shape.width - 2 * kMargin, false, title}}, kInk);
}

}  // namespace stoker

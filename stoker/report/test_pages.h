// What tests ask of drawn pages.
#pragma once

#include <algorithm>

#include "stoker/core/test_files.h"
#include "stoker/image/image.h"
#include "stoker/report/canvas.h"
#include "stoker/report/page.h"

namespace stoker::test {

inline Colour colour_at(const Image& page, int x, int y) {
  if (page.shape().channels == 1) return {page.at(y, x), page.at(y, x), page.at(y, x)};
  return {page.at(y, x, 0), page.at(y, x, 1), page.at(y, x, 2)};
}

// Pixels of that colour, cut to the page.
inline int count_colour(const Image& page, const Rect& rect, Colour colour) {
  int count = 0;
  for (int y = std::max(rect.y, 0); y < std::min(rect.y + rect.height, page.shape().height); ++y) {
    for (int x = std::max(rect.x, 0); x < std::min(rect.x + rect.width, page.shape().width); ++x) {
      count += colour_at(page, x, y) == colour ? 1 : 0;
    }
  }
  return count;
}

inline int count_colour(const Image& page, Colour colour) {
  return count_colour(page, {0, 0, page.shape().width, page.shape().height}, colour);
}

// Nothing is drawn there.
inline bool is_blank(const Image& page, const Rect& rect) {
  return count_colour(page, rect, kPaper) == rect.width * rect.height;
}

// Nothing lies closer than `margin` to any border.
inline bool has_margin(const Image& page, int margin) {
  const int width = page.shape().width;
  const int height = page.shape().height;
  return is_blank(page, {0, 0, width, margin}) && is_blank(page, {0, 0, margin, height}) &&
         is_blank(page, {0, height - margin, width, margin}) &&
         is_blank(page, {width - margin, 0, margin, height});
}

}  // namespace stoker::test

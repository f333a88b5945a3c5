// What the images of a report share: paper and inks, the limit on their size, text fitted into a
// width, enlarged images with a frame. Functions without state, safe from any thread on different
// images.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "stoker/image/image.h"
#include "stoker/report/canvas.h"
#include "stoker/report/font.h"

namespace stoker {

inline constexpr std::int64_t kMaxPagePixels = 200'000'000;

inline constexpr Colour kPaper{255, 255, 255};
inline constexpr Colour kInk{31, 41, 55};         // titles and names
inline constexpr Colour kPaleInk{100, 110, 125};  // what explains them
inline constexpr Colour kLine{200, 205, 212};

// In pixels of the page.
inline constexpr int kMargin = 24;
inline constexpr int kTextScale = 2;
inline constexpr int kTextLine = kTextHeight * kTextScale;
inline constexpr int kTitleGap = 18;  // below a title

// Throws Error, "the <what> would be too large", where a side exceeds kMaxSide or the page
// kMaxPagePixels. To be called before memory is taken.
void check_page_size(std::int64_t height, std::int64_t width, std::string_view what,
                     std::string_view hint);

// An image of that shape, all paper.
[[nodiscard]] Image blank_page(const ImageShape& shape);

// The zoom asked for, or for 0 the least that makes an image with this longer side `smallest`
// pixels long. Throws Error where it is negative.
[[nodiscard]] int resolve_zoom(int zoom, int longer_side, int smallest);

// In the middle of the cell, with a frame, for images as white as the paper.
void draw_framed_image(const MutableImageView& out, const Rect& cell, const ImageView& image,
                       int zoom);

// A piece of text that may take `width` pixels from x on.
struct TextSpot {
  int x = 0;
  int width = 0;
  bool centred = false;
  std::string_view text = {};
};

// One line: all spots at the usual size where that fits, else all at half of it, shortened where
// even that is wide. Both sizes stand on the same base line.
void draw_text_line(const MutableImageView& out, int y, const std::vector<TextSpot>& spots,
                    Colour colour);

// At the upper margin, from margin to margin.
void draw_title(const MutableImageView& out, std::string_view title);

}  // namespace stoker

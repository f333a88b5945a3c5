// The few drawing operations that images in reports need: filled rectangles, thin frames and
// enlarged images, all clipped at the borders. Grey and RGB. Functions without state: safe from
// several threads on different images. Cost: the pixels touched, nothing allocated.
#pragma once

#include <cstdint>

#include "stoker/image/colour.h"
#include "stoker/image/image.h"

namespace stoker {

// Pixels [x, x + width) by [y, y + height); any part may lie outside an image.
struct Rect {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
};

void fill_rect(const MutableImageView& out, const Rect& rect, Colour colour);

// One pixel wide, just outside of `inner`, so that it hides nothing.
void frame_rect(const MutableImageView& out, const Rect& inner, Colour colour);

// Each pixel of `in` becomes a square of zoom x zoom, the first one at (x, y). A grey image may be
// drawn on an RGB one, not the other way round.
void draw_image(const MutableImageView& out, int x, int y, const ImageView& in, int zoom);

}  // namespace stoker

// Coverage: which fraction of each pixel of an area is covered by lines and marks, for smooth
// edges. Shapes add up to their union, so that a line is not darker where its segments meet. One
// thread at a time. Cost: a byte a pixel of the area, and for a shape the pixels near it. The same
// bits on every machine: only +, -, *, / and square roots.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/image/image.h"
#include "stoker/report/canvas.h"

namespace stoker {

// In pixels; the centre of the first one is at (0.5, 0.5).
struct Point {
  double x = 0;
  double y = 0;
};

enum class Mark { kDisc, kSquare, kDiamond };

class Coverage {
 public:
  explicit Coverage(const Rect& area);

  // With round ends. All coordinates are finite; nothing is drawn outside the area.
  void add_line(Point from, Point to, double width);
  void add_mark(Mark mark, Point centre, double radius);

  // Blends the colour over what `out` shows in the area, by the share that is covered.
  void paint(const MutableImageView& out, Colour colour) const;

 private:
  // Gives each pixel of the area in [x0, x1] x [y0, y1] the share that goes with its distance to
  // the shape's edge, distance(x, y), negative inside.
  template <typename Distance>
  void add_row(int y, double x0, double x1, const Distance& distance);
  [[nodiscard]] std::uint8_t* row(int y) {
    return share_.data() + static_cast<std::size_t>(y - area_.y) * area_.width;
  }

  Rect area_;
  std::vector<std::uint8_t> share_;  // 255 is all of it
};

}  // namespace stoker

#include "stoker/report/coverage.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "stoker/core/invariant.h"

namespace stoker {
namespace {

// An edge is smoothed over this far to either side.
constexpr double kSoft = 0.5;

struct Pixels {
  int first;
  int last;  // one past it
};

// The pixels whose centres lie in [from, to], cut to [start, start + length).
Pixels pixels(double from, double to, int start, int length) {
  const double low = start;
  const double high = start + length;
  return {static_cast<int>(std::clamp(std::ceil(from - 0.5), low, high)),
          static_cast<int>(std::clamp(std::floor(to - 0.5) + 1, low, high))};
}

double squared(double value) { return value * value; }

double distance_to_line(Point at, Point from, Point to) {
  const double dx = to.x - from.x;
  const double dy = to.y - from.y;
  const double length2 = dx * dx + dy * dy;
  const double along = (at.x - from.x) * dx + (at.y - from.y) * dy;
  const double t = length2 > 0 ? std::clamp(along / length2, 0.0, 1.0) : 0;
  return std::sqrt(squared(at.x - from.x - t * dx) + squared(at.y - from.y - t * dy));
}

double distance_to_mark(Mark mark, double dx, double dy) {
  constexpr double kHalfRoot = 0.7071067811865476;
  switch (mark) {
    case Mark::kDisc:
      return std::sqrt(dx * dx + dy * dy);
    case Mark::kSquare:
      return std::max(std::abs(dx), std::abs(dy));
    case Mark::kDiamond:
      break;
  }
  return (std::abs(dx) + std::abs(dy)) * kHalfRoot;
}

// How far from its centre a mark of this radius reaches along an axis.
double reach_of(Mark mark, double radius) {
  return (mark == Mark::kDiamond ? radius * 1.4142135623730951 : radius) + 2 * kSoft;
}

std::uint8_t blend(std::uint8_t below, std::uint8_t above, int share) {
  return static_cast<std::uint8_t>((below * (255 - share) + above * share + 127) / 255);
}

}  // namespace

Coverage::Coverage(const Rect& area) : area_(area) {
  STOKER_INVARIANT(area.width >= 0 && area.height >= 0, "{}x{}", area.height, area.width);
  share_.resize(static_cast<std::size_t>(area.width) * static_cast<std::size_t>(area.height));
}

template <typename Distance>
void Coverage::add_row(int y, double x0, double x1, const Distance& distance) {
  const Pixels columns = pixels(x0, x1, area_.x, area_.width);
  std::uint8_t* shares = row(y) - area_.x;
  for (int x = columns.first; x < columns.last; ++x) {
    const double covered = std::clamp(kSoft - distance(x + 0.5, y + 0.5), 0.0, 1.0);
    const auto share = static_cast<std::uint8_t>(std::floor(covered * 255 + 0.5));
    shares[x] = std::max(shares[x], share);
  }
}

void Coverage::add_line(Point from, Point to, double width) {
  if (from.y > to.y) std::swap(from, to);
  const double radius = width / 2;
  const double reach = radius + kSoft;
  const auto distance = [&](double x, double y) {
    return distance_to_line({x, y}, from, to) - radius;
  };
  const double slope = to.y > from.y ? (to.x - from.x) / (to.y - from.y) : 0;
  const Pixels rows = pixels(from.y - reach, to.y + reach, area_.y, area_.height);
  for (int y = rows.first; y < rows.last; ++y) {
    // Only the part of the line within reach of this row can touch its pixels.
    const double upper = std::max(y + 0.5 - reach, from.y);
    const double lower = std::min(y + 0.5 + reach, to.y);
    double x0 = from.x;
    double x1 = to.x;
    if (upper > from.y) x0 = from.x + (upper - from.y) * slope;
    if (lower < to.y) x1 = from.x + (lower - from.y) * slope;
    add_row(y, std::min(x0, x1) - reach, std::max(x0, x1) + reach, distance);
  }
}

void Coverage::add_mark(Mark mark, Point centre, double radius) {
  const auto distance = [&](double x, double y) {
    return distance_to_mark(mark, x - centre.x, y - centre.y) - radius;
  };
  const double reach = reach_of(mark, radius);
  const Pixels rows = pixels(centre.y - reach, centre.y + reach, area_.y, area_.height);
  for (int y = rows.first; y < rows.last; ++y) {
    add_row(y, centre.x - reach, centre.x + reach, distance);
  }
}

void Coverage::paint(const MutableImageView& out, Colour colour) const {
  const int channels = out.shape.channels;
  const std::uint8_t rgb[] = {colour.red, colour.green, colour.blue};
  const std::uint8_t grey[] = {colour.grey()};
  const std::uint8_t* ink = channels == 1 ? grey : rgb;
  for (int y = std::max(area_.y, 0); y < std::min(area_.y + area_.height, out.shape.height); ++y) {
    const std::uint8_t* shares =
        share_.data() + static_cast<std::size_t>(y - area_.y) * area_.width - area_.x;
    for (int x = std::max(area_.x, 0); x < std::min(area_.x + area_.width, out.shape.width); ++x) {
      std::uint8_t* pixel = out.row(y) + std::ptrdiff_t{x} * channels;
      for (int c = 0; c < channels; ++c) pixel[c] = blend(pixel[c], ink[c], shares[x]);
    }
  }
}

}  // namespace stoker

#include "stoker/kernels/warp/perspective.h"

#include <cmath>
#include <utility>

#include "stoker/core/error.h"
#include "stoker/kernels/warp/detail/bilinear.h"
#include "stoker/kernels/warp/detail/perspective_places.h"

namespace stoker {
namespace {

constexpr int kUnknowns = 8;
using Equations = std::array<std::array<double, kUnknowns + 1>, kUnknowns>;  // the last is constant

// The corner `to` of the output shows `from` of the input: two equations, with the denominator
// multiplied out.
void add_corner(Equations& equations, std::size_t corner, const Place& from, const Place& to) {
  equations[2 * corner] = {to.x, to.y, 1, 0, 0, 0, -from.x * to.x, -from.x * to.y, from.x};
  equations[2 * corner + 1] = {0, 0, 0, to.x, to.y, 1, -from.y * to.x, -from.y * to.y, from.y};
}

[[noreturn]] void refuse() {
  throw Error({.what = "cannot find a perspective",
               .expected = "four corners of a convex shape, in order, no three on a line"});
}

// Gauss and Jordan's elimination; the largest number of a column is the pivot.
void solve(Equations& equations) {
  for (int column = 0; column < kUnknowns; ++column) {
    int pivot = column;
    for (int row = column + 1; row < kUnknowns; ++row) {
      if (std::abs(equations[row][column]) > std::abs(equations[pivot][column])) pivot = row;
    }
    std::swap(equations[column], equations[pivot]);
    auto& top = equations[column];
    if (!(std::abs(top[column]) > 1e-9)) refuse();
    for (int row = 0; row < kUnknowns; ++row) {
      if (row == column) continue;
      const double share = equations[row][column] / top[column];
      for (int k = column; k <= kUnknowns; ++k) equations[row][k] -= share * top[k];
    }
  }
  for (int row = 0; row < kUnknowns; ++row) equations[row][kUnknowns] /= equations[row][row];
}

}  // namespace

Perspective perspective_between(const Quadrangle& from, const Quadrangle& to) {
  // Eight unknowns suffice because the denominator is 1 at the origin; it must not be 0 there, so
  // the origin is put into the middle of `to`, which no horizon crosses.
  Place middle{};
  for (const Place& corner : to) {
    middle.x += corner.x / 4;
    middle.y += corner.y / 4;
  }
  Equations equations{};
  for (std::size_t corner = 0; corner < 4; ++corner) {
    const Place moved{.x = to[corner].x - middle.x, .y = to[corner].y - middle.y};
    add_corner(equations, corner, from[corner], moved);
  }
  solve(equations);
  const auto value = [&](int i) { return equations[i][kUnknowns]; };
  // With three corners on a line the equations are fulfilled by 0 = 0 at one of them.
  for (const Place& corner : to) {
    if (!(value(6) * (corner.x - middle.x) + value(7) * (corner.y - middle.y) + 1 > 1e-9)) refuse();
  }
  const auto moved_back = [&](int x, int y, double constant) {
    return constant - value(x) * middle.x - value(y) * middle.y;
  };
  return {.a = value(0),
          .b = value(1),
          .c = moved_back(0, 1, value(2)),
          .d = value(3),
          .e = value(4),
          .f = moved_back(3, 4, value(5)),
          .g = value(6),
          .h = value(7),
          .i = moved_back(6, 7, 1)};
}

void warp_perspective_reference(const MutableImageView& out, const ImageView& in,
                                const Perspective& map) {
  const int channels = in.shape.channels;
  with_value_type(in.shape, [&]<class Value>(Value) {
    for (int y = 0; y < out.shape.height; ++y) {
      Value* out_row = out.values<Value>(y);
      for (int x = 0; x < out.shape.width; ++x) {
        const auto place = detail::place_of<std::int64_t>(map, x, y, in.shape);
        for (int channel = 0; channel < channels; ++channel) {
          out_row[x * channels + channel] = detail::bilinear<Value>(in, place.y, place.x, channel);
        }
      }
    }
  });
}

}  // namespace stoker

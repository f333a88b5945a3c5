#include "stoker/report/canvas.h"

#include <algorithm>
#include <cstddef>

#include "stoker/core/invariant.h"

namespace stoker {
namespace {

// Half-open run of pixels along one axis, cut to [0, size). 64 bits: start + length may overflow.
struct PixelRun {
  int first;
  int last;
};

PixelRun clip(std::int64_t start, std::int64_t length, int size) {
  const auto cut = [size](std::int64_t at) {
    return static_cast<int>(std::clamp<std::int64_t>(at, 0, size));
  };
  return {cut(start), cut(start + length)};
}

// Which pixel of an image enlarged from `start` on lies under `at`. `start` may be far outside.
int source_index(int at, int start, int zoom) {
  return static_cast<int>((std::int64_t{at} - start) / zoom);
}

void fill_row(std::uint8_t* row, const PixelRun& run, int channels, Colour colour) {
  if (channels == 1) {
    std::fill(row + run.first, row + run.last, colour.grey());
    return;
  }
  for (int x = run.first; x < run.last; ++x) {
    std::uint8_t* pixel = row + std::ptrdiff_t{3} * x;
    pixel[0] = colour.red;
    pixel[1] = colour.green;
    pixel[2] = colour.blue;
  }
}

}  // namespace

void fill_rect(const MutableImageView& out, const Rect& rect, Colour colour) {
  const PixelRun columns = clip(rect.x, rect.width, out.shape.width);
  const PixelRun rows = clip(rect.y, rect.height, out.shape.height);
  for (int y = rows.first; y < rows.last; ++y) {
    fill_row(out.row(y), columns, out.shape.channels, colour);
  }
}

void frame_rect(const MutableImageView& out, const Rect& inner, Colour colour) {
  const int left = inner.x - 1;
  const int top = inner.y - 1;
  fill_rect(out, {left, top, inner.width + 2, 1}, colour);
  fill_rect(out, {left, inner.y + inner.height, inner.width + 2, 1}, colour);
  fill_rect(out, {left, top, 1, inner.height + 2}, colour);
  fill_rect(out, {inner.x + inner.width, top, 1, inner.height + 2}, colour);
}

void draw_image(const MutableImageView& out, int x, int y, const ImageView& in, int zoom) {
  STOKER_INVARIANT(zoom >= 1, "zoom={}", zoom);
  const int out_channels = out.shape.channels;
  const int in_channels = in.shape.channels;
  STOKER_INVARIANT(in_channels <= out_channels, "{} on {} channels", in_channels, out_channels);
  const PixelRun columns = clip(x, std::int64_t{in.shape.width} * zoom, out.shape.width);
  const PixelRun rows = clip(y, std::int64_t{in.shape.height} * zoom, out.shape.height);
  const bool spread = in_channels < out_channels;  // the one grey sample serves every channel
  for (int to_y = rows.first; to_y < rows.last; ++to_y) {
    const std::uint8_t* from = in.row(source_index(to_y, y, zoom));
    std::uint8_t* to = out.row(to_y);
    for (int to_x = columns.first; to_x < columns.last; ++to_x) {
      const std::uint8_t* pixel = from + std::ptrdiff_t{source_index(to_x, x, zoom)} * in_channels;
      for (int c = 0; c < out_channels; ++c) to[to_x * out_channels + c] = pixel[spread ? 0 : c];
    }
  }
}

}  // namespace stoker

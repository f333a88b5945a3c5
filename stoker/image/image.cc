#include "stoker/image/image.h"

#include <cstring>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"

namespace stoker {

void check_shape(const ImageShape& shape) {
  const bool sides =
      shape.height >= 1 && shape.height <= kMaxSide && shape.width >= 1 && shape.width <= kMaxSide;
  if (!sides || (shape.channels != 1 && shape.channels != 3)) {
    throw Error({.what = "cannot make an image of this shape",
                 .expected = fmt::format("sides of 1 to {} and 1 or 3 channels", kMaxSide),
                 .found = fmt::format("{}x{} with {} channels", shape.height, shape.width,
                                      shape.channels)});
  }
}

Image::Image(const ImageShape& shape) { reshape(shape); }

Image::Image(const ImageView& view) : Image(view.shape) { copy_pixels(this->view(), view); }

void Image::reshape(const ImageShape& shape) {
  if (shape == shape_) return;
  check_shape(shape);
  pixels_.resize(shape.bytes());
  shape_ = shape;
}

void copy_pixels(const MutableImageView& out, const ImageView& in) {
  STOKER_INVARIANT(out.shape == in.shape, "{}x{} and {}x{}", out.shape.height, out.shape.width,
                   in.shape.height, in.shape.width);
  if (in.contiguous() && out.bytes_per_row == in.bytes_per_row) {
    std::memcpy(out.data, in.data, in.shape.bytes());
    return;
  }
  for (int y = 0; y < in.shape.height; ++y) {
    std::memcpy(out.row(y), in.row(y), in.shape.bytes_per_row());
  }
}

}  // namespace stoker

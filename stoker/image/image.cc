#include "stoker/image/image.h"

#include <cstring>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"

namespace stoker {

void check_shape(const ImageShape& shape) {
  const bool sides =
      shape.height >= 1 && shape.height <= kMaxSide && shape.width >= 1 && shape.width <= kMaxSide;
  const bool channels = shape.channels == 1 || shape.channels == 3 || shape.channels == 4;
  if (!sides || !channels || (shape.depth != 8 && shape.depth != 16)) {
    throw Error({.what = "cannot make an image of this shape",
                 .expected = fmt::format("sides of 1 to {} and 1, 3 or 4 channels of 8 or 16 bits",
                                         kMaxSide),
                 .found = fmt::format("{}x{} with {} channels of {} bits", shape.height,
                                      shape.width, shape.channels, shape.depth)});
  }
}

void refuse_wide(const ImageShape& shape, const char* what) {
  if (!shape.wide()) return;
  throw Error({.what = fmt::format("{} works on {}", what,
                                   shape.depth != 8 ? "8-bit images" : "1 or 3 channels"),
               .found = fmt::format("{} channels of {} bits", shape.channels, shape.depth)});
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

namespace {

// v over white, all of 8 bits, rounded.
std::uint8_t over_white(std::uint32_t value, std::uint32_t alpha) {
  return static_cast<std::uint8_t>((value * alpha + 255 * (255 - alpha) + 127) / 255);
}

template <class Value>
void narrow_row(std::uint8_t* out, const Value* in, int width, int channels) {
  constexpr int kShift = 8 * (static_cast<int>(sizeof(Value)) - 1);
  const int kept = channels == 4 ? 3 : channels;
  for (int x = 0; x < width; ++x, in += channels) {
    for (int c = 0; c < kept; ++c) {
      const auto value = static_cast<std::uint8_t>(in[c] >> kShift);
      *out++ =
          channels == 4 ? over_white(value, static_cast<std::uint32_t>(in[3] >> kShift)) : value;
    }
  }
}

}  // namespace

Image narrowed(const ImageView& image) {
  const int channels = image.shape.channels;
  Image out({image.shape.height, image.shape.width, channels == 4 ? 3 : channels});
  with_value_type(image.shape, [&]<class Value>(Value) {
    for (int y = 0; y < image.shape.height; ++y) {
      narrow_row(out.view().row(y), image.values<Value>(y), image.shape.width, channels);
    }
  });
  return out;
}

}  // namespace stoker

#include "stoker/kernels/warp/detail/bilinear.h"
#include "stoker/kernels/warp/warp.h"

namespace stoker {
namespace {

int pixel_or_black(const ImageView& in, std::int64_t y, std::int64_t x, int channel) {
  if (y < 0 || y >= in.shape.height || x < 0 || x >= in.shape.width) return 0;
  return in.at(static_cast<int>(y), static_cast<int>(x), channel);
}

}  // namespace

std::uint8_t detail::bilinear(const ImageView& in, std::int64_t fixed_y, std::int64_t fixed_x,
                              int channel) {
  const std::int64_t x = fixed_x >> kFractionBits, y = fixed_y >> kFractionBits;
  const int fx = static_cast<int>(fixed_x >> (kFractionBits - kWeightBits)) & 255;
  const int fy = static_cast<int>(fixed_y >> (kFractionBits - kWeightBits)) & 255;
  const int top =
      pixel_or_black(in, y, x, channel) * (256 - fx) + pixel_or_black(in, y, x + 1, channel) * fx;
  const int bottom = pixel_or_black(in, y + 1, x, channel) * (256 - fx) +
                     pixel_or_black(in, y + 1, x + 1, channel) * fx;
  return static_cast<std::uint8_t>((top * (256 - fy) + bottom * fy + (1 << 15)) >> 16);
}

void warp_affine_reference(const MutableImageView& out, const ImageView& in,
                           const FixedAffine& map) {
  const int channels = in.shape.channels;
  for (int y = 0; y < out.shape.height; ++y) {
    std::uint8_t* out_row = out.row(y);
    for (int x = 0; x < out.shape.width; ++x) {
      const std::int64_t fixed_x = map.xx * x + map.xy * y + map.x0;
      const std::int64_t fixed_y = map.yx * x + map.yy * y + map.y0;
      for (int channel = 0; channel < channels; ++channel) {
        out_row[x * channels + channel] = detail::bilinear(in, fixed_y, fixed_x, channel);
      }
    }
  }
}

}  // namespace stoker

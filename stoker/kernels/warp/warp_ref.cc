#include "stoker/kernels/warp/detail/bilinear.h"
#include "stoker/kernels/warp/warp.h"

namespace stoker {

void warp_affine_reference(const MutableImageView& out, const ImageView& in,
                           const FixedAffine& map) {
  const int channels = in.shape.channels;
  with_value_type(in.shape, [&]<class Value>(Value) {
    for (int y = 0; y < out.shape.height; ++y) {
      Value* out_row = out.values<Value>(y);
      for (int x = 0; x < out.shape.width; ++x) {
        const std::int64_t fixed_x = map.xx * x + map.xy * y + map.x0;
        const std::int64_t fixed_y = map.yx * x + map.yy * y + map.y0;
        for (int channel = 0; channel < channels; ++channel) {
          out_row[x * channels + channel] = detail::bilinear<Value>(in, fixed_y, fixed_x, channel);
        }
      }
    }
  });
}

}  // namespace stoker

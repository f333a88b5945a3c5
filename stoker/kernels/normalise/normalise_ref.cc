#include "stoker/kernels/normalise/normalise.h"

namespace stoker {

Normalisation from_mean_and_deviation(const std::array<double, 3>& mean,
                                      const std::array<double, 3>& deviation) {
  Normalisation result;
  for (std::size_t c = 0; c < 3; ++c) {
    result.scale[c] = static_cast<float>(1 / (255 * deviation[c]));
    result.offset[c] = static_cast<float>(-mean[c] / deviation[c]);
  }
  return result;
}

void normalise_reference(float* out, const ImageView& in, const Normalisation& normalisation) {
  const int channels = in.shape.channels;
  for (int c = 0; c < channels; ++c) {
    for (int y = 0; y < in.shape.height; ++y) {
      const std::uint8_t* row = in.row(y);
      for (int x = 0; x < in.shape.width; ++x) {
        const float scaled = static_cast<float>(row[x * channels + c]) * normalisation.scale[c];
        *out++ = scaled + normalisation.offset[c];
      }
    }
  }
}

}  // namespace stoker

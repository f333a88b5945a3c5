#include "stoker/kernels/normalise/normalise.h"

namespace stoker {

Normalisation from_mean_and_deviation(const ChannelNumbers& mean, const ChannelNumbers& deviation) {
  Normalisation result;
  for (std::size_t c = 0; c < mean.size(); ++c) {
    const double divisor = deviation[c] == 0 ? 1 : deviation[c];
    result.scale[c] = static_cast<float>(1 / (255 * divisor));
    result.offset[c] = static_cast<float>(-mean[c] / divisor);
  }
  return result;
}

void normalise_reference(float* out, const ImageView& in, const Normalisation& normalisation) {
  const int channels = in.shape.channels;
  with_value_type(in.shape, [&]<class Value>(Value) {
    for (int c = 0; c < channels; ++c) {
      const float scale =
          sizeof(Value) == 1 ? normalisation.scale[c] : normalisation.scale[c] / 257;
      for (int y = 0; y < in.shape.height; ++y) {
        const Value* row = in.values<Value>(y);
        for (int x = 0; x < in.shape.width; ++x) {
          const float scaled = static_cast<float>(row[x * channels + c]) * scale;
          *out++ = scaled + normalisation.offset[c];
        }
      }
    }
  });
}

void normalise_channels_last_reference(float* out, const ImageView& in,
                                       const Normalisation& normalisation) {
  const int channels = in.shape.channels;
  with_value_type(in.shape, [&]<class Value>(Value) {
    for (int y = 0; y < in.shape.height; ++y) {
      const Value* row = in.values<Value>(y);
      for (int i = 0; i < in.shape.width * channels; ++i) {
        const int c = i % channels;
        const float scale =
            sizeof(Value) == 1 ? normalisation.scale[c] : normalisation.scale[c] / 257;
        const float scaled = static_cast<float>(row[i]) * scale;
        *out++ = scaled + normalisation.offset[c];
      }
    }
  });
}

}  // namespace stoker

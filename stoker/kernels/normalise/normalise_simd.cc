#include "stoker/kernels/normalise/normalise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/kernels/normalise/normalise_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

// No vectors here: the plain loop is the best there is.
void normalise_simd(float* out, const ImageView& in, const Normalisation& normalisation) {
  normalise_reference(out, in, normalisation);
}
void channels_last_simd(float* out, const ImageView& in, const Normalisation& normalisation) {
  normalise_channels_last_reference(out, in, normalisation);
}

#else

using DF = hn::ScalableTag<float>;
using D8 = hn::Rebind<std::uint8_t, DF>;

// Not MulAdd: a fused one rounds once, and not every CPU has it.
template <class V8>
HWY_INLINE auto scale_and_shift(V8 bytes, hn::Vec<DF> scale, hn::Vec<DF> offset) {
  const DF df;
  const auto value = hn::ConvertTo(df, hn::PromoteTo(hn::RebindToSigned<DF>(), bytes));
  return hn::Add(hn::Mul(value, scale), offset);
}

void normalise_grey(float* out, const std::uint8_t* in, std::size_t count,
                    const Normalisation& normalisation) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  const auto scale = hn::Set(df, normalisation.scale[0]);
  const auto offset = hn::Set(df, normalisation.offset[0]);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(scale_and_shift(hn::LoadU(D8(), in + i), scale, offset), df, out + i);
  }
  for (; i < count; ++i) {
    const float scaled = static_cast<float>(in[i]) * normalisation.scale[0];
    out[i] = scaled + normalisation.offset[0];
  }
}

void normalise_rgb(float* out, std::size_t plane, const std::uint8_t* in, std::size_t count,
                   const Normalisation& normalisation) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::Vec<D8> red, green, blue;
    hn::LoadInterleaved3(D8(), in + 3 * i, red, green, blue);
    const auto store = [&](int channel, hn::Vec<D8> bytes) HWY_ATTR {
      const auto scale = hn::Set(df, normalisation.scale[channel]);
      const auto offset = hn::Set(df, normalisation.offset[channel]);
      hn::StoreU(scale_and_shift(bytes, scale, offset), df, out + channel * plane + i);
    };
    store(0, red);
    store(1, green);
    store(2, blue);
  }
  for (; i < count; ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      const float scaled = static_cast<float>(in[3 * i + c]) * normalisation.scale[c];
      out[c * plane + i] = scaled + normalisation.offset[c];
    }
  }
}

void normalise_simd(float* out, const ImageView& in, const Normalisation& normalisation) {
  // An image without gaps is one long row.
  const std::size_t width = in.shape.width, height = in.shape.height;
  const std::size_t rows = in.contiguous() ? 1 : height;
  const std::size_t count = in.contiguous() ? width * height : width;
  for (std::size_t y = 0; y < rows; ++y) {
    const std::uint8_t* row = in.row(static_cast<int>(y));
    if (in.shape.channels == 1) {
      normalise_grey(out + y * width, row, count, normalisation);
    } else {
      normalise_rgb(out + y * width, width * height, row, count, normalisation);
    }
  }
}

// Values of one row, the first of which is of channel 0. As many vectors as there are channels
// begin with channel 0 again, so each of them has its own scales and offsets.
void normalise_interleaved(float* out, const std::uint8_t* in, std::size_t count,
                           std::size_t channels, const Normalisation& normalisation) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  constexpr std::size_t kMostLanes = hn::MaxLanes(df);
  float scales[kMaxChannels * kMostLanes], offsets[kMaxChannels * kMostLanes];
  for (std::size_t i = 0; i < channels * lanes; ++i) {
    scales[i] = normalisation.scale[i % channels];
    offsets[i] = normalisation.offset[i % channels];
  }
  std::size_t i = 0;
  for (; i + channels * lanes <= count; i += channels * lanes) {
    for (std::size_t v = 0; v < channels * lanes; v += lanes) {
      const auto bytes = hn::LoadU(D8(), in + i + v);
      hn::StoreU(scale_and_shift(bytes, hn::LoadU(df, scales + v), hn::LoadU(df, offsets + v)), df,
                 out + i + v);
    }
  }
  for (; i < count; ++i) {
    const float scaled = static_cast<float>(in[i]) * normalisation.scale[i % channels];
    out[i] = scaled + normalisation.offset[i % channels];
  }
}

void channels_last_simd(float* out, const ImageView& in, const Normalisation& normalisation) {
  const std::size_t channels = in.shape.channels, height = in.shape.height;
  const std::size_t values = in.shape.width * channels;
  const std::size_t rows = in.contiguous() ? 1 : height;
  const std::size_t count = in.contiguous() ? values * height : values;
  for (std::size_t y = 0; y < rows; ++y) {
    normalise_interleaved(out + y * values, in.row(static_cast<int>(y)), count, channels,
                          normalisation);
  }
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace stoker::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {
HWY_EXPORT(normalise_simd);
HWY_EXPORT(channels_last_simd);
}  // namespace

void normalise(float* out, const ImageView& in, const Normalisation& normalisation) {
  if (in.shape.wide() || detail::use_reference_kernels()) {
    normalise_reference(out, in, normalisation);
  } else {
    HWY_DYNAMIC_DISPATCH(normalise_simd)(out, in, normalisation);
  }
}

void normalise_channels_last(float* out, const ImageView& in, const Normalisation& normalisation) {
  if (in.shape.wide() || detail::use_reference_kernels()) {
    normalise_channels_last_reference(out, in, normalisation);
  } else {
    HWY_DYNAMIC_DISPATCH(channels_last_simd)(out, in, normalisation);
  }
}

}  // namespace stoker
#endif  // HWY_ONCE

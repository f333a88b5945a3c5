#include "stoker/kernels/channel_norm/channel_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/kernels/channel_norm/channel_norm_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

void add_moments_simd(float* sums, float* squares, const ChannelRows& x, const float* pivot) {
  add_moments_reference(sums, squares, x, pivot);
}
void rectify_line_simd(float* y, const ChannelRows& x, const RectifiedLine& line) {
  rectify_line_reference(y, x, line);
}
void add_slope_sums_simd(float* sums, float* products, const float* slopes, const ChannelRows& x,
                         const RectifiedLine& line, const float* mean) {
  add_slope_sums_reference(sums, products, slopes, x, line, mean);
}
void input_slopes_simd(float* out, const float* slopes, const ChannelRows& x,
                       const RectifiedLine& line, const SlopePlane& plane) {
  input_slopes_reference(out, slopes, x, line, plane);
}

#else

// Rows whose sums are added up in registers before they go back to memory.
constexpr std::size_t kRowsAtATime = 4;

using DF = hn::ScalableTag<float>;
using HalfDF = hn::Half<DF>;

// All channels of a few rows: in vectors, in a half one (many networks have a multiple of 8), and
// what is left one by one.
template <class InVectors, class OneByOne>
HWY_INLINE void for_channels(std::size_t channels, InVectors in_vectors, OneByOne one_by_one) {
  const std::size_t lanes = hn::Lanes(DF()), half = hn::Lanes(HalfDF());
  std::size_t c = 0;
  for (; c + lanes <= channels; c += lanes) in_vectors(DF(), c);
  if (c + half <= channels) {
    in_vectors(HalfDF(), c);
    c += half;
  }
  for (; c < channels; ++c) one_by_one(c);
}

// As for_channels(), for groups of kRowsAtATime rows and then the last ones.
template <class Rows>
HWY_INLINE void for_row_groups(std::size_t rows, Rows work) {
  std::size_t row = 0;
  for (; row + kRowsAtATime <= rows; row += kRowsAtATime) work(row, kRowsAtATime);
  if (row < rows) work(row, rows - row);
}

// The part of a whole for one channel, where vectors do not fit.
ChannelRows one_channel_row(const ChannelRows& x, std::size_t row, std::size_t c) {
  return {x.values + row * x.channels + c, 1, 1};
}
RectifiedLine one_channel(const RectifiedLine& line, std::size_t c) {
  return {line.scale + c, line.shift + c, line.low, line.high};
}

void add_moments_simd(float* sums, float* squares, const ChannelRows& x, const float* pivot) {
  for_row_groups(x.rows, [&](std::size_t row, std::size_t count) HWY_ATTR {
    const float* values = x.values + row * x.channels;
    for_channels(
        x.channels,
        [&](auto df, std::size_t c) HWY_ATTR {
          using VF = hn::Vec<decltype(df)>;
          const VF middle = hn::LoadU(df, pivot + c);
          VF sum = hn::LoadU(df, sums + c), square = hn::LoadU(df, squares + c);
          for (std::size_t i = 0; i < count; ++i) {
            const VF distance = hn::Sub(hn::LoadU(df, values + i * x.channels + c), middle);
            sum = hn::Add(sum, distance);
            square = hn::MulAdd(distance, distance, square);
          }
          hn::StoreU(sum, df, sums + c);
          hn::StoreU(square, df, squares + c);
        },
        [&](std::size_t c) {
          for (std::size_t i = 0; i < count; ++i) {
            add_moments_reference(sums + c, squares + c, one_channel_row(x, row + i, c), pivot + c);
          }
        });
  });
}

// On x86 the second argument of Max and Min is the result where one is NaN.
template <class VF>
HWY_INLINE VF between(VF z, VF low, VF high) {
  return hn::Min(high, hn::Max(low, z));
}

void rectify_line_simd(float* y, const ChannelRows& x, const RectifiedLine& line) {
  for (std::size_t row = 0; row < x.rows; ++row) {
    const float* values = x.values + row * x.channels;
    float* out = y + row * x.channels;
    for_channels(
        x.channels,
        [&](auto df, std::size_t c) HWY_ATTR {
          const auto low = hn::Set(df, line.low), high = hn::Set(df, line.high);
          const auto z = hn::MulAdd(hn::LoadU(df, values + c), hn::LoadU(df, line.scale + c),
                                    hn::LoadU(df, line.shift + c));
          hn::StoreU(between(z, low, high), df, out + c);
        },
        [&](std::size_t c) {
          rectify_line_reference(out + c, one_channel_row(x, row, c), one_channel(line, c));
        });
  }
}

// 0 where z is not between the bounds.
template <class VF>
HWY_INLINE VF slope_between(VF x, VF slope, VF scale, VF shift, VF low, VF high) {
  const VF z = hn::MulAdd(x, scale, shift);
  const auto outside = hn::Or(hn::Le(z, low), hn::Ge(z, high));
  return hn::IfThenZeroElse(outside, slope);
}

void add_slope_sums_simd(float* sums, float* products, const float* slopes, const ChannelRows& x,
                         const RectifiedLine& line, const float* mean) {
  for_row_groups(x.rows, [&](std::size_t row, std::size_t count) HWY_ATTR {
    const float* values = x.values + row * x.channels;
    const float* above = slopes + row * x.channels;
    for_channels(
        x.channels,
        [&](auto df, std::size_t c) HWY_ATTR {
          using VF = hn::Vec<decltype(df)>;
          const VF low = hn::Set(df, line.low), high = hn::Set(df, line.high);
          const VF scale = hn::LoadU(df, line.scale + c), shift = hn::LoadU(df, line.shift + c);
          const VF middle = hn::LoadU(df, mean + c);
          VF sum = hn::LoadU(df, sums + c), product = hn::LoadU(df, products + c);
          for (std::size_t i = 0; i < count; ++i) {
            const VF value = hn::LoadU(df, values + i * x.channels + c);
            const VF slope = slope_between(value, hn::LoadU(df, above + i * x.channels + c), scale,
                                           shift, low, high);
            sum = hn::Add(sum, slope);
            product = hn::MulAdd(slope, hn::Sub(value, middle), product);
          }
          hn::StoreU(sum, df, sums + c);
          hn::StoreU(product, df, products + c);
        },
        [&](std::size_t c) {
          for (std::size_t i = 0; i < count; ++i) {
            add_slope_sums_reference(sums + c, products + c, above + i * x.channels + c,
                                     one_channel_row(x, row + i, c), one_channel(line, c),
                                     mean + c);
          }
        });
  });
}

void input_slopes_simd(float* out, const float* slopes, const ChannelRows& x,
                       const RectifiedLine& line, const SlopePlane& plane) {
  for (std::size_t row = 0; row < x.rows; ++row) {
    const std::size_t begin = row * x.channels;
    for_channels(
        x.channels,
        [&](auto df, std::size_t c) HWY_ATTR {
          using VF = hn::Vec<decltype(df)>;
          const VF low = hn::Set(df, line.low), high = hn::Set(df, line.high);
          const VF value = hn::LoadU(df, x.values + begin + c);
          const VF slope =
              slope_between(value, hn::LoadU(df, slopes + begin + c), hn::LoadU(df, line.scale + c),
                            hn::LoadU(df, line.shift + c), low, high);
          const VF part =
              hn::MulAdd(hn::LoadU(df, plane.across + c), slope, hn::LoadU(df, plane.constant + c));
          hn::StoreU(hn::MulAdd(hn::LoadU(df, plane.along + c), value, part), df, out + begin + c);
        },
        [&](std::size_t c) {
          input_slopes_reference(out + begin + c, slopes + begin + c, one_channel_row(x, row, c),
                                 one_channel(line, c),
                                 {plane.along + c, plane.across + c, plane.constant + c});
        });
  }
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace stoker::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {
HWY_EXPORT(add_moments_simd);
HWY_EXPORT(rectify_line_simd);
HWY_EXPORT(add_slope_sums_simd);
HWY_EXPORT(input_slopes_simd);
}  // namespace

void add_moments(float* sums, float* squares, const ChannelRows& x, const float* pivot) {
  if (detail::use_reference_kernels()) return add_moments_reference(sums, squares, x, pivot);
  HWY_DYNAMIC_DISPATCH(add_moments_simd)(sums, squares, x, pivot);
}

void rectify_line(float* y, const ChannelRows& x, const RectifiedLine& line) {
  if (detail::use_reference_kernels()) return rectify_line_reference(y, x, line);
  HWY_DYNAMIC_DISPATCH(rectify_line_simd)(y, x, line);
}

void add_slope_sums(float* sums, float* products, const float* slopes, const ChannelRows& x,
                    const RectifiedLine& line, const float* mean) {
  if (detail::use_reference_kernels()) {
    return add_slope_sums_reference(sums, products, slopes, x, line, mean);
  }
  HWY_DYNAMIC_DISPATCH(add_slope_sums_simd)(sums, products, slopes, x, line, mean);
}

void input_slopes(float* out, const float* slopes, const ChannelRows& x, const RectifiedLine& line,
                  const SlopePlane& plane) {
  if (detail::use_reference_kernels()) {
    return input_slopes_reference(out, slopes, x, line, plane);
  }
  HWY_DYNAMIC_DISPATCH(input_slopes_simd)(out, slopes, x, line, plane);
}

}  // namespace stoker
#endif  // HWY_ONCE

#include "stoker/kernels/blend/blend.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/kernels/blend/blend_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

// No vectors here: the plain loops are the best there is.
void blend_simd(std::uint8_t* values, const std::uint8_t* base, std::size_t count, float factor) {
  blend_reference(values, base, count, factor);
}
void saturate_simd(std::uint8_t* rgb, std::size_t pixels, float factor) {
  saturate_reference(rgb, pixels, factor);
}
std::uint64_t luma_sum_simd(const std::uint8_t* rgb, std::size_t pixels) {
  return luma_sum_reference(rgb, pixels);
}

#else

using DF = hn::ScalableTag<float>;
using D32 = hn::RebindToSigned<DF>;
using D8 = hn::Rebind<std::uint8_t, DF>;

// One vector of blend_value. Not MulAdd: a fused one rounds once, and not every CPU has it.
HWY_INLINE hn::Vec<D8> blend_vector(hn::Vec<D32> base, hn::Vec<D32> value, hn::Vec<DF> factor) {
  const DF df;
  const auto scaled = hn::Mul(factor, hn::ConvertTo(df, hn::Sub(value, base)));
  const auto blended = hn::Add(hn::ConvertTo(df, base), scaled);
  const auto legal = hn::Min(hn::Max(blended, hn::Zero(df)), hn::Set(df, 255.0F));
  return hn::DemoteTo(D8(), hn::ConvertTo(D32(), legal));
}

HWY_INLINE hn::Vec<D32> luma_vector(hn::Vec<D8> red, hn::Vec<D8> green, hn::Vec<D8> blue) {
  const D32 d;
  const auto weigh = [d](hn::Vec<D8> v, int weight)
                         HWY_ATTR { return hn::Mul(hn::PromoteTo(d, v), hn::Set(d, weight)); };
  const auto sum = hn::Add(hn::Add(weigh(red, 19595), weigh(green, 38470)),
                           hn::Add(weigh(blue, 7471), hn::Set(d, 0x8000)));
  return hn::ShiftRight<16>(sum);
}

void blend_simd(std::uint8_t* values, const std::uint8_t* base, std::size_t count, float factor) {
  const DF df;
  const D32 d32;
  const D8 d8;
  const std::size_t lanes = hn::Lanes(df);
  const auto factors = hn::Set(df, factor);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto b = hn::PromoteTo(d32, hn::LoadU(d8, base + i));
    const auto v = hn::PromoteTo(d32, hn::LoadU(d8, values + i));
    hn::StoreU(blend_vector(b, v, factors), d8, values + i);
  }
  blend_reference(values + i, base + i, count - i, factor);
}

void saturate_simd(std::uint8_t* rgb, std::size_t pixels, float factor) {
  const DF df;
  const D32 d32;
  const D8 d8;
  const std::size_t lanes = hn::Lanes(df);
  const auto factors = hn::Set(df, factor);
  std::size_t i = 0;
  for (; i + lanes <= pixels; i += lanes) {
    hn::Vec<D8> red, green, blue;
    hn::LoadInterleaved3(d8, rgb + 3 * i, red, green, blue);
    const auto grey = luma_vector(red, green, blue);
    hn::StoreInterleaved3(blend_vector(grey, hn::PromoteTo(d32, red), factors),
                          blend_vector(grey, hn::PromoteTo(d32, green), factors),
                          blend_vector(grey, hn::PromoteTo(d32, blue), factors), d8, rgb + 3 * i);
  }
  saturate_reference(rgb + 3 * i, pixels - i, factor);
}

std::uint64_t luma_sum_simd(const std::uint8_t* rgb, std::size_t pixels) {
  const D32 d32;
  const D8 d8;
  const std::size_t lanes = hn::Lanes(d32);
  std::uint64_t sum = 0;
  std::size_t i = 0;
  while (i + lanes <= pixels) {
    // A lane holds 2^23 numbers below 2^8.
    const std::size_t left = (pixels - i) / lanes, vectors = left < (1 << 20) ? left : (1 << 20);
    auto sums = hn::Zero(d32);
    for (std::size_t k = 0; k < vectors; ++k, i += lanes) {
      hn::Vec<D8> red, green, blue;
      hn::LoadInterleaved3(d8, rgb + 3 * i, red, green, blue);
      sums = hn::Add(sums, luma_vector(red, green, blue));
    }
    HWY_ALIGN std::int32_t parts[hn::MaxLanes(d32)];
    hn::Store(sums, d32, parts);
    for (std::size_t k = 0; k < lanes; ++k) sum += static_cast<std::uint64_t>(parts[k]);
  }
  return sum + luma_sum_reference(rgb + 3 * i, pixels - i);
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace stoker::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {
HWY_EXPORT(blend_simd);
HWY_EXPORT(saturate_simd);
HWY_EXPORT(luma_sum_simd);
}  // namespace

void blend(std::uint8_t* values, const std::uint8_t* base, std::size_t count, float factor) {
  if (detail::use_reference_kernels()) {
    blend_reference(values, base, count, factor);
  } else {
    HWY_DYNAMIC_DISPATCH(blend_simd)(values, base, count, factor);
  }
}

void saturate(std::uint8_t* rgb, std::size_t pixels, float factor) {
  if (detail::use_reference_kernels()) {
    saturate_reference(rgb, pixels, factor);
  } else {
    HWY_DYNAMIC_DISPATCH(saturate_simd)(rgb, pixels, factor);
  }
}

std::uint64_t luma_sum(const std::uint8_t* rgb, std::size_t pixels) {
  if (detail::use_reference_kernels()) return luma_sum_reference(rgb, pixels);
  return HWY_DYNAMIC_DISPATCH(luma_sum_simd)(rgb, pixels);
}

}  // namespace stoker
#endif  // HWY_ONCE

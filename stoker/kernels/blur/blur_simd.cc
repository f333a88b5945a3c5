#include "stoker/kernels/blur/blur.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/kernels/blur/blur_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

// No vectors here: the caller takes the plain loop.
std::size_t vector_bytes() { return 0; }
void blur_down(std::int16_t*, const std::uint8_t* const*, std::size_t, const BlurWeights&) {}
void blur_along(std::uint8_t*, const std::int16_t*, std::size_t, int, const BlurWeights&) {}

#else

using D16 = hn::ScalableTag<std::int16_t>;
using D8 = hn::Rebind<std::uint8_t, D16>;

// Values that one step makes.
std::size_t vector_bytes() { return hn::Lanes(D16()); }

// The first place of each vector: the last one overlaps the one before. count >= lanes.
template <class Step>
HWY_INLINE void each_vector(std::size_t count, Step step) {
  const std::size_t lanes = hn::Lanes(D16()), last = count - lanes;
  for (std::size_t x = 0;;) {
    step(x);
    if (x == last) return;
    x = x + lanes < last ? x + lanes : last;
  }
}

// rows[radius] is the row itself, rows[radius - i] and rows[radius + i] its neighbours.
void blur_down(std::int16_t* out, const std::uint8_t* const* rows, std::size_t count,
               const BlurWeights& weights) {
  const int radius = weights.radius;
  each_vector(count, [&](std::size_t x) HWY_ATTR {
    const D16 d;
    const auto load = [&](int i) HWY_ATTR {
      return hn::PromoteTo(d, hn::LoadU(D8(), rows[radius + i] + x));
    };
    auto sum = hn::MulFixedPoint15(hn::ShiftLeft<6>(load(0)), hn::Set(d, weights.weights[0]));
    for (int i = 1; i <= radius; ++i) {
      const auto both = hn::ShiftLeft<6>(hn::Add(load(-i), load(i)));
      sum = hn::Add(sum, hn::MulFixedPoint15(both, hn::Set(d, weights.weights[i])));
    }
    hn::StoreU(sum, d, out + x);
  });
}

// `in` points at the first value after the left border.
void blur_along(std::uint8_t* out, const std::int16_t* in, std::size_t count, int channels,
                const BlurWeights& weights) {
  each_vector(count, [&](std::size_t x) HWY_ATTR {
    const D16 d;
    auto sum = hn::MulFixedPoint15(hn::LoadU(d, in + x), hn::Set(d, weights.weights[0]));
    for (int i = 1; i <= weights.radius; ++i) {
      const std::ptrdiff_t distance = std::ptrdiff_t{i} * channels;
      const auto both = hn::Add(hn::LoadU(d, in + x - distance), hn::LoadU(d, in + x + distance));
      sum = hn::Add(sum, hn::MulFixedPoint15(both, hn::Set(d, weights.weights[i])));
    }
    const auto rounded = hn::ShiftRight<6>(hn::Add(sum, hn::Set(d, std::int16_t{32})));
    hn::StoreU(hn::DemoteTo(D8(), rounded), D8(), out + x);
  });
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace stoker::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

#include "stoker/core/invariant.h"
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {

HWY_EXPORT(vector_bytes);
HWY_EXPORT(blur_down);
HWY_EXPORT(blur_along);

// Draws the borders left and right of a row of `width` pixels.
void reflect_row(std::int16_t* row, int width, int channels, int radius) {
  for (int x = 1; x <= radius; ++x) {
    const int left = detail::reflected(-x, width), right = detail::reflected(width - 1 + x, width);
    std::copy_n(row + left * channels, channels, row - x * channels);
    std::copy_n(row + right * channels, channels, row + (width - 1 + x) * channels);
  }
}

}  // namespace

void blur(const MutableImageView& out, const ImageView& in, const BlurWeights& weights,
          BlurScratch& scratch) {
  STOKER_INVARIANT(out.shape == in.shape && !in.shape.wide(), "shapes differ, or a wide image");
  const int height = in.shape.height, width = in.shape.width;
  const int channels = in.shape.channels;
  const std::size_t count = in.shape.bytes_per_row();
  const std::size_t lanes =
      detail::use_reference_kernels() ? 0 : HWY_DYNAMIC_DISPATCH(vector_bytes)();
  if (lanes == 0 || count < lanes) {
    blur_reference(out, in, weights);
    return;
  }
  const int radius = weights.radius;
  const std::size_t border = static_cast<std::size_t>(radius) * channels;
  scratch.row.resize(count + 2 * border);
  std::int16_t* row = scratch.row.data() + border;
  std::array<const std::uint8_t*, 2 * kMaxBlurRadius + 1> rows{};
  for (int y = 0; y < height; ++y) {
    for (int i = -radius; i <= radius; ++i) {
      rows[radius + i] = in.row(detail::reflected(y + i, height));
    }
    HWY_DYNAMIC_DISPATCH(blur_down)(row, rows.data(), count, weights);
    reflect_row(row, width, channels, radius);
    HWY_DYNAMIC_DISPATCH(blur_along)(out.row(y), row, count, channels, weights);
  }
}

}  // namespace stoker
#endif  // HWY_ONCE

#include "stoker/kernels/warp/warp.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/kernels/warp/warp_simd.cc"
#include <cstring>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "stoker/core/invariant.h"
#include "stoker/kernels/warp/detail/warp_input.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

// No vectors here: the caller takes the plain loop.
bool warp_bordered(const MutableImageView&, const detail::BorderedInput&, const FixedAffine&) {
  return false;
}
bool warp_pairs(const MutableImageView&, const detail::PairInput&, const FixedAffine&) {
  return false;
}
void make_pairs(const ImageView&, std::uint16_t*, std::size_t) {}
bool warp_places_bordered(std::uint8_t*, const ImageShape&, const detail::BorderedInput&,
                          const std::int32_t*) {
  return false;
}
bool warp_places_pairs(std::uint8_t*, const ImageShape&, const detail::PairInput&,
                       const std::int32_t*) {
  return false;
}

#else

using D32 = hn::ScalableTag<std::int32_t>;
using V32 = hn::Vec<D32>;

using detail::BorderedInput;
using detail::PairInput;

// Four bytes from each of the given places, which have no alignment.
HWY_INLINE V32 gather_bytes(D32 d, const std::uint8_t* base, V32 offsets) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  return hn::GatherOffset(d, reinterpret_cast<const std::int32_t*>(base), offsets);
#else
  // Targets without a gather instruction: Highway's replacement wants aligned addresses.
  HWY_ALIGN std::int32_t lanes[hn::MaxLanes(d)];
  hn::Store(offsets, d, lanes);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) std::memcpy(&lanes[i], base + lanes[i], 4);
  return hn::Load(d, lanes);
#endif
}

// Two 16-bit numbers a lane: the low byte of `top` below, that of `bottom` above.
template <int kByte>
HWY_INLINE V32 pair_bytes(D32 d, V32 top, V32 bottom) {
  const V32 low = hn::And(hn::ShiftRight<8 * kByte>(top), hn::Set(d, 0xFF));
  V32 high;
  if constexpr (kByte <= 2) {
    high = hn::ShiftLeft<16 - 8 * kByte>(bottom);
  } else {
    high = hn::ShiftRight<8>(bottom);
  }
  return hn::Or(low, hn::And(high, hn::Set(d, 0xFF0000)));
}

// One vector of output pixels: where each lies in the input, in steps of 2^-16 pixel.
struct Places {
  V32 x, y;
};

// The whole pixel to the left or above. Beyond `limit` and -2 everything is black, so nothing lies
// further.
template <bool kClamp>
HWY_INLINE V32 whole_pixel(D32 d, V32 fixed, std::int32_t limit) {
  const V32 pixel = hn::ShiftRight<kFractionBits>(fixed);
  if constexpr (!kClamp) return pixel;
  return hn::Min(hn::Max(pixel, hn::Set(d, -2)), hn::Set(d, limit));
}

// The weight of the right or lower neighbour, 0..255, in both halves of each lane. It is the second
// byte of the place: one shuffle puts it where it is needed.
HWY_INLINE V32 weight_twice(D32 d, V32 fixed) {
  static_assert(kFractionBits == 16 && kWeightBits == 8);
  constexpr std::uint8_t kNone = 0x80;
  alignas(16) static constexpr std::uint8_t kSecondBytes[16] = {
      1, kNone, 1, kNone, 5, kNone, 5, kNone, 9, kNone, 9, kNone, 13, kNone, 13, kNone};
  const hn::Repartition<std::uint8_t, D32> d8;
  return hn::BitCast(
      d, hn::TableLookupBytesOr0(hn::BitCast(d8, fixed), hn::LoadDup128(d8, kSecondBytes)));
}

constexpr std::int32_t kHalf = 1 << 15;  // rounds the last shift to the nearest

// first (256 - weight) + second weight + kHalf, where each lane of `both` holds the first below the
// second, 16 bits each, and each lane of `weight` the weight twice.
HWY_INLINE V32 blend_halves(D32 d, V32 both, V32 weight) {
#if HWY_ARCH_X86
  // One instruction multiplies both pairs and adds them, but reads signed numbers: shift them down
  // by 2^15 and the sum, whose weights add up to 256, back up. In the low halves, 256 - weight is
  // the complement plus 257.
  const hn::Repartition<std::int16_t, D32> di16;
  const auto weights = hn::Add(hn::BitCast(di16, hn::Xor(weight, hn::Set(d, 0xFFFF))),
                               hn::BitCast(di16, hn::Set(d, 257)));
  const auto lowered =
      hn::BitCast(di16, hn::Xor(both, hn::Set(d, static_cast<std::int32_t>(0x80008000))));
  V32 unused = hn::Zero(d);
  return hn::ReorderWidenMulAccumulate(d, lowered, weights, hn::Set(d, (1 << 23) + kHalf), unused);
#else
  const V32 first = hn::And(both, hn::Set(d, 0xFFFF)), single = hn::And(weight, hn::Set(d, 0xFFFF));
  const V32 second =
      hn::BitCast(d, hn::ShiftRight<16>(hn::BitCast(hn::RebindToUnsigned<D32>(), both)));
  return hn::Add(hn::Add(hn::ShiftLeft<8>(first), hn::Set(d, kHalf)),
                 hn::Mul(hn::Sub(second, first), single));
#endif
}

// Bilinear interpolation in two steps, in either direction first: nothing is rounded in between.
// `near` and `far` hold two values a lane, 16 bits each; step one blends near and far by `weight1`
// (at most 255 * 256, which 16 bits hold), step two the two results by `weight2`.
HWY_INLINE auto blend(D32 d, V32 near, V32 far, V32 weight1, V32 weight2) {
  const hn::Repartition<std::uint16_t, D32> d16;
  const auto far_weight = hn::BitCast(d16, weight1);
  const auto near_weight = hn::Sub(hn::Set(d16, 256), far_weight);
  const V32 both = hn::BitCast(d, hn::Add(hn::Mul(hn::BitCast(d16, near), near_weight),
                                          hn::Mul(hn::BitCast(d16, far), far_weight)));
  const hn::RebindToUnsigned<D32> du32;
  const hn::Rebind<std::uint8_t, D32> d8;
  return hn::TruncateTo(d8, hn::ShiftRight<16>(hn::BitCast(du32, blend_halves(d, both, weight2))));
}

// A warp of pairs: one gather a vector. Down first, as the pairs lie.
template <bool kClamp>
struct WarpPairs {
  const PairInput in;
  static constexpr int kChannels = 1;

  HWY_INLINE void operator()(D32 d, std::uint8_t* out, const Places& p) const {
    const V32 x = whole_pixel<kClamp>(d, p.x, in.width), y = whole_pixel<kClamp>(d, p.y, in.height);
    const V32 place = hn::Add(hn::ShiftLeftSame(y, in.log2_places_per_row), x);
    const V32 quads =
        gather_bytes(d, reinterpret_cast<const std::uint8_t*>(in.origin), hn::Add(place, place));
    const V32 low_bytes = hn::Set(d, 0x00FF00FF);
    const V32 top = hn::And(quads, low_bytes),
              bottom = hn::And(hn::ShiftRight<8>(quads), low_bytes);
    const hn::Rebind<std::uint8_t, D32> d8;
    hn::StoreU(blend(d, top, bottom, weight_twice(d, p.y), weight_twice(d, p.x)), d8, out);
  }
};

// Bytes from pixel (0, 0) to the upper left neighbour.
template <int kChannels>
HWY_INLINE V32 offset_of(D32 d, const BorderedInput& in, const Places& p) {
  const V32 x = whole_pixel<true>(d, p.x, in.width), y = whole_pixel<true>(d, p.y, in.height);
  const V32 x_bytes = kChannels == 1 ? x : hn::Add(hn::Add(x, x), x);
  return hn::Add(hn::Mul(y, hn::Set(d, in.bytes_per_row)), x_bytes);
}

// A warp of grey pixels: two gathers, one for each row.
struct WarpGrey {
  const BorderedInput in;
  static constexpr int kChannels = 1;

  HWY_INLINE void operator()(D32 d, std::uint8_t* out, const Places& p) const {
    const V32 offset = offset_of<kChannels>(d, in, p);
    const V32 top = gather_bytes(d, in.origin, offset);
    const V32 bottom = gather_bytes(d, in.origin + in.bytes_per_row, offset);
    const hn::Rebind<std::uint8_t, D32> d8;
    hn::StoreU(blend(d, pair_bytes<0>(d, top, bottom), pair_bytes<1>(d, top, bottom),
                     weight_twice(d, p.x), weight_twice(d, p.y)),
               d8, out);
  }
};

// A warp of colours: a gather for each of the four neighbours.
struct WarpRgb {
  const BorderedInput in;
  static constexpr int kChannels = 3;

  HWY_INLINE void operator()(D32 d, std::uint8_t* out, const Places& p) const {
    const V32 offset = offset_of<kChannels>(d, in, p);
    const V32 p00 = gather_bytes(d, in.origin, offset);
    const V32 p01 = gather_bytes(d, in.origin + 3, offset);
    const V32 p10 = gather_bytes(d, in.origin + in.bytes_per_row, offset);
    const V32 p11 = gather_bytes(d, in.origin + in.bytes_per_row + 3, offset);
    const V32 fx = weight_twice(d, p.x), fy = weight_twice(d, p.y);
    const hn::Rebind<std::uint8_t, D32> d8;
    hn::StoreInterleaved3(blend(d, pair_bytes<0>(d, p00, p10), pair_bytes<0>(d, p01, p11), fx, fy),
                          blend(d, pair_bytes<1>(d, p00, p10), pair_bytes<1>(d, p01, p11), fx, fy),
                          blend(d, pair_bytes<2>(d, p00, p10), pair_bytes<2>(d, p01, p11), fx, fy),
                          d8, out);
  }
};

// Vector by vector over all rows; the last vector of a row overlaps the one before. False where the
// output is narrower than a vector. `warp` is a copy: pixels written could otherwise be part of it,
// for all the compiler knows, and it would read it again for every vector.
template <class WarpVector>
HWY_INLINE bool warp_rows(const MutableImageView& out, const FixedAffine& map,
                          const WarpVector warp) {
  const D32 d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int last = out.shape.width - lanes;
  if (last < 0) return false;
  const auto at = [&](std::int64_t per_lane, std::int64_t start) HWY_ATTR {
    return hn::Add(hn::Mul(hn::Iota(d, 0), hn::Set(d, static_cast<std::int32_t>(per_lane))),
                   hn::Set(d, static_cast<std::int32_t>(start)));
  };
  const V32 next_row_x = hn::Set(d, static_cast<std::int32_t>(map.xy));
  const V32 next_row_y = hn::Set(d, static_cast<std::int32_t>(map.yy));
  const auto xx = static_cast<std::int32_t>(map.xx), yx = static_cast<std::int32_t>(map.yx);
  const int height = out.shape.height;
  const std::size_t bytes_per_row = out.bytes_per_row;
  std::uint8_t* out_row = out.data;
  Places first{.x = at(map.xx, map.x0), .y = at(map.yx, map.y0)};
  for (int y = 0; y < height; ++y, out_row += bytes_per_row) {
    for (int x = 0;;) {
      const Places places{.x = hn::Add(first.x, hn::Set(d, x * xx)),
                          .y = hn::Add(first.y, hn::Set(d, x * yx))};
      warp(d, out_row + x * WarpVector::kChannels, places);
      if (x == last) break;
      x = x + lanes < last ? x + lanes : last;
    }
    first = {.x = hn::Add(first.x, next_row_x), .y = hn::Add(first.y, next_row_y)};
  }
  return true;
}

bool warp_bordered(const MutableImageView& out, const BorderedInput& in, const FixedAffine& map) {
  return out.shape.channels == 1 ? warp_rows(out, map, WarpGrey{in})
                                 : warp_rows(out, map, WarpRgb{in});
}

bool warp_pairs(const MutableImageView& out, const PairInput& in, const FixedAffine& map) {
  return in.reaches_beyond_border ? warp_rows(out, map, WarpPairs<true>{in})
                                  : warp_rows(out, map, WarpPairs<false>{in});
}

// One row whose places are given, all x before all y. False where it is narrower than a vector.
template <class WarpVector>
HWY_INLINE bool warp_places(std::uint8_t* out_row, int width, const std::int32_t* places,
                            const WarpVector warp) {
  const D32 d;
  const int lanes = static_cast<int>(hn::Lanes(d)), last = width - lanes;
  if (last < 0) return false;
  for (int x = 0;;) {
    warp(d, out_row + x * WarpVector::kChannels,
         Places{.x = hn::LoadU(d, places + x), .y = hn::LoadU(d, places + width + x)});
    if (x == last) return true;
    x = x + lanes < last ? x + lanes : last;
  }
}

bool warp_places_bordered(std::uint8_t* out_row, const ImageShape& shape, const BorderedInput& in,
                          const std::int32_t* places) {
  return shape.channels == 1 ? warp_places(out_row, shape.width, places, WarpGrey{in})
                             : warp_places(out_row, shape.width, places, WarpRgb{in});
}

bool warp_places_pairs(std::uint8_t* out_row, const ImageShape& shape, const PairInput& in,
                       const std::int32_t* places) {
  return warp_places(out_row, shape.width, places, WarpPairs<true>{in});
}

// One row of pairs, 16 at a time, the last ones twice. width >= 16.
HWY_INLINE void pair_row(const std::uint8_t* top, const std::uint8_t* bottom, std::uint16_t* out,
                         int width) {
  const hn::Full128<std::uint8_t> d;
  for (int x = 0;;) {
    const auto t = hn::LoadU(d, top + x), b = hn::LoadU(d, bottom + x);
    auto* out_bytes = reinterpret_cast<std::uint8_t*>(out + x);
    hn::StoreU(hn::InterleaveLower(d, t, b), d, out_bytes);
    hn::StoreU(hn::InterleaveUpper(d, t, b), d, out_bytes + 16);
    if (x == width - 16) return;
    x = x + 16 < width - 16 ? x + 16 : width - 16;
  }
}

// `origin` is place (0, 0); the row above it pairs black with the first row of the image.
void make_pairs(const ImageView& in, std::uint16_t* origin, std::size_t places_per_row) {
  const int width = in.shape.width, height = in.shape.height;
  alignas(16) static constexpr std::uint8_t kBlack[detail::kMaxPairWidth] = {};
  for (int y = -1; y < height; ++y) {
    const std::uint8_t* top = y < 0 ? kBlack : in.row(y);
    const std::uint8_t* bottom = y + 1 < height ? in.row(y + 1) : kBlack;
    pair_row(top, bottom, origin + y * static_cast<std::ptrdiff_t>(places_per_row), width);
  }
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace stoker::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "stoker/kernels/simd.h"
#include "stoker/kernels/warp/detail/perspective_places.h"

namespace stoker {
namespace {

HWY_EXPORT(warp_bordered);
HWY_EXPORT(warp_pairs);
HWY_EXPORT(make_pairs);
HWY_EXPORT(warp_places_bordered);
HWY_EXPORT(warp_places_pairs);
constexpr int kBorder = 2;                              // black pixels on every side
constexpr int kPairBorder = 16;                         // of pairs: most small changes stay within
constexpr int kOverrun = 4;                             // a gather reads three bytes past a pixel
constexpr std::int64_t kReach = std::int64_t{1} << 29;  // in 2^-16 pixel: differences fit 31 bits
constexpr std::size_t kMaxPairBytes = 24 << 10;         // half of a usual first-level cache

// Sixteen bytes at a time, the last ones twice: rows are short, and a call of memcpy costs as much.
void copy_row(std::uint8_t* out, const std::uint8_t* in, std::size_t bytes) {
  if (bytes < 16) {
    std::memcpy(out, in, bytes);
    return;
  }
  for (std::size_t i = 0; i + 16 <= bytes; i += 16) std::memcpy(out + i, in + i, 16);
  std::memcpy(out + bytes - 16, in + bytes - 16, 16);
}

detail::BorderedInput add_border(const ImageView& in, WarpScratch& scratch) {
  const std::size_t bytes_per_row = (in.shape.width + 2 * kBorder) * in.shape.channels;
  if (scratch.shape != in.shape) {
    scratch.bordered.assign(bytes_per_row * (in.shape.height + 2 * kBorder) + kOverrun, 0);
    scratch.shape = in.shape;
  }
  std::uint8_t* origin = scratch.bordered.data() + kBorder * (bytes_per_row + in.shape.channels);
  for (int y = 0; y < in.shape.height; ++y) {
    copy_row(origin + y * bytes_per_row, in.row(y), in.shape.bytes_per_row());
  }
  return {.origin = origin,
          .bytes_per_row = static_cast<std::int32_t>(bytes_per_row),
          .width = in.shape.width,
          .height = in.shape.height};
}

// Rows of a power of two, so that a shift finds them.
int log2_pairs_per_row(const ImageShape& shape) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(shape.width + 2 * kPairBorder - 1)));
}
std::size_t pair_count(const ImageShape& shape) {
  return static_cast<std::size_t>(shape.height + 2 * kPairBorder) << log2_pairs_per_row(shape);
}
bool pairs_pay(const ImageShape& shape) {
  return shape.channels == 1 && shape.width >= 16 && shape.width <= detail::kMaxPairWidth &&
         pair_count(shape) * sizeof(std::uint16_t) <= kMaxPairBytes;
}

// The least and the greatest place that a map reaches: a linear map has them at corners.
struct Reach {
  std::int64_t low, high;
};
Reach reach(std::int64_t per_x, std::int64_t per_y, std::int64_t start, const ImageShape& out) {
  const std::int64_t x = per_x * (out.width - 1), y = per_y * (out.height - 1);
  return {.low = start + std::min<std::int64_t>(x, 0) + std::min<std::int64_t>(y, 0),
          .high = start + std::max<std::int64_t>(x, 0) + std::max<std::int64_t>(y, 0)};
}

// Whether all places, with their right or lower neighbours, lie within `border` pixels of [0,
// size).
bool within(const Reach& reach, std::int64_t size, std::int64_t border) {
  return reach.low >> kFractionBits >= -border && (reach.high >> kFractionBits) + 1 < size + border;
}

detail::PairInput pair_up(const ImageView& in, bool reaches_beyond_border, WarpScratch& scratch) {
  const int log2_row = log2_pairs_per_row(in.shape);
  if (scratch.shape != in.shape) {
    scratch.pairs.assign(pair_count(in.shape), 0);
    scratch.shape = in.shape;
  }
  std::uint16_t* origin =
      scratch.pairs.data() + (std::size_t{kPairBorder} << log2_row) + kPairBorder;
  HWY_DYNAMIC_DISPATCH(make_pairs)(in, origin, std::size_t{1} << log2_row);
  return {.origin = origin,
          .log2_places_per_row = log2_row,
          .width = in.shape.width,
          .height = in.shape.height,
          .reaches_beyond_border = reaches_beyond_border};
}

bool warp_fast(const MutableImageView& out, const ImageView& in, const FixedAffine& map,
               WarpScratch& scratch) {
  if (detail::use_reference_kernels()) return false;
  const Reach x = reach(map.xx, map.xy, map.x0, out.shape),
              y = reach(map.yx, map.yy, map.y0, out.shape);
  const int height = in.shape.height, width = in.shape.width;
  const bool fits_32_bits = x.low > -kReach && x.high < kReach && y.low > -kReach &&
                            y.high < kReach && height <= (1 << 13) && width <= (1 << 13);
  if (!fits_32_bits) return false;
  if (!pairs_pay(in.shape)) {
    return HWY_DYNAMIC_DISPATCH(warp_bordered)(out, add_border(in, scratch), map);
  }
  const bool beyond = !within(x, width, kPairBorder) || !within(y, height, kPairBorder);
  return HWY_DYNAMIC_DISPATCH(warp_pairs)(out, pair_up(in, beyond, scratch), map);
}

void find_places(const Perspective& map, int y, const ImageShape& shape, std::int32_t* places) {
  for (int x = 0; x < shape.width; ++x) {
    const auto place = detail::place_of<std::int32_t>(map, x, y, shape);
    places[x] = place.x;
    places[shape.width + x] = place.y;
  }
}

bool warp_perspective_fast(const MutableImageView& out, const ImageView& in, const Perspective& map,
                           WarpScratch& scratch) {
  const ImageShape& shape = in.shape;
  if (detail::use_reference_kernels() || std::max(shape.height, shape.width) > 1 << 13) {
    return false;
  }
  scratch.places.resize(2 * static_cast<std::size_t>(shape.width));
  std::int32_t* places = scratch.places.data();
  const auto each_row = [&](const auto& warp_row) {
    for (int y = 0; y < shape.height; ++y) {
      find_places(map, y, shape, places);
      if (!warp_row(out.row(y))) return false;
    }
    return true;
  };
  if (pairs_pay(shape)) {
    const detail::PairInput pairs = pair_up(in, true, scratch);
    return each_row([&](std::uint8_t* row) {
      return HWY_DYNAMIC_DISPATCH(warp_places_pairs)(row, shape, pairs, places);
    });
  }
  const detail::BorderedInput bordered = add_border(in, scratch);
  return each_row([&](std::uint8_t* row) {
    return HWY_DYNAMIC_DISPATCH(warp_places_bordered)(row, shape, bordered, places);
  });
}

}  // namespace

void warp_perspective(const MutableImageView& out, const ImageView& in, const Perspective& map,
                      WarpScratch& scratch) {
  STOKER_INVARIANT(out.shape == in.shape, "shapes differ");
  if (in.shape.wide() || !warp_perspective_fast(out, in, map, scratch)) {
    warp_perspective_reference(out, in, map);
  }
}

void warp_affine(const MutableImageView& out, const ImageView& in, const FixedAffine& map,
                 WarpScratch& scratch) {
  STOKER_INVARIANT(out.shape.channels == in.shape.channels && out.shape.depth == in.shape.depth,
                   "{} and {} channels of {} and {} bits", out.shape.channels, in.shape.channels,
                   out.shape.depth, in.shape.depth);
  if (in.shape.wide() || !warp_fast(out, in, map, scratch)) warp_affine_reference(out, in, map);
}

}  // namespace stoker
#endif  // HWY_ONCE

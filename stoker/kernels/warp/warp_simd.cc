#include "stoker/kernels/warp/warp.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/kernels/warp/warp_simd.cc"
#include <cstring>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "stoker/kernels/warp/detail/bordered_input.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

// No vectors here: the caller takes the plain loop.
bool warp_simd(const MutableImageView&, const detail::BorderedInput&, const FixedAffine&) {
  return false;
}

#else

using D32 = hn::ScalableTag<std::int32_t>;
using V32 = hn::Vec<D32>;

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

// Where one vector of output pixels lies in the input.
struct Places {
  V32 offset;  // bytes from pixel (0, 0) to the upper left neighbour
  V32 fx, fy;  // weights of the right and the lower neighbour, 0..255
};

using detail::BorderedInput;

template <int kChannels>
HWY_INLINE Places find_places(D32 d, const BorderedInput& in, V32 fixed_x, V32 fixed_y) {
  // Beyond the border everything is black: the clamped neighbours are, too.
  const V32 outside = hn::Set(d, -2);
  const V32 x =
      hn::Min(hn::Max(hn::ShiftRight<kFractionBits>(fixed_x), outside), hn::Set(d, in.width));
  const V32 y =
      hn::Min(hn::Max(hn::ShiftRight<kFractionBits>(fixed_y), outside), hn::Set(d, in.height));
  const V32 weight_mask = hn::Set(d, 255);
  constexpr int kDrop = kFractionBits - kWeightBits;
  const V32 x_bytes = kChannels == 1 ? x : hn::Add(hn::Add(x, x), x);
  return {.offset = hn::Add(hn::Mul(y, hn::Set(d, in.bytes_per_row)), x_bytes),
          .fx = hn::And(hn::ShiftRight<kDrop>(fixed_x), weight_mask),
          .fy = hn::And(hn::ShiftRight<kDrop>(fixed_y), weight_mask)};
}

// `left` and `right` hold the upper and the lower neighbour's value as two 16-bit numbers a lane.
// Across first, both rows in one multiplication: at most 255 * 256, which 16 bits hold.
HWY_INLINE V32 blend(D32 d, V32 left, V32 right, const Places& places) {
  const hn::Repartition<std::uint16_t, D32> d16;
  const V32 fx_twice = hn::Or(places.fx, hn::ShiftLeft<16>(places.fx));
  const auto right_weight = hn::BitCast(d16, fx_twice);
  const auto left_weight = hn::Sub(hn::Set(d16, 256), right_weight);
  const auto across = hn::BitCast(d, hn::Add(hn::Mul(hn::BitCast(d16, left), left_weight),
                                             hn::Mul(hn::BitCast(d16, right), right_weight)));
  const V32 top = hn::And(across, hn::Set(d, 0xFFFF));
  const V32 bottom =
      hn::BitCast(d, hn::ShiftRight<16>(hn::BitCast(hn::RebindToUnsigned<D32>(), across)));
  // top (256 - fy) + bottom fy, with one multiplication
  const V32 down = hn::Add(hn::ShiftLeft<8>(top), hn::Mul(hn::Sub(bottom, top), places.fy));
  return hn::ShiftRight<16>(hn::Add(down, hn::Set(d, 1 << 15)));
}

HWY_INLINE void warp_vector_grey(D32 d, std::uint8_t* out, const BorderedInput& in,
                                 const Places& p) {
  const V32 top = gather_bytes(d, in.origin, p.offset);
  const V32 bottom = gather_bytes(d, in.origin + in.bytes_per_row, p.offset);
  const V32 value = blend(d, pair_bytes<0>(d, top, bottom), pair_bytes<1>(d, top, bottom), p);
  const hn::Rebind<std::uint8_t, D32> d8;
  hn::StoreU(hn::DemoteTo(d8, value), d8, out);
}

template <int kChannel>
HWY_INLINE auto warp_channel(D32 d, V32 p00, V32 p01, V32 p10, V32 p11, const Places& p) {
  const hn::Rebind<std::uint8_t, D32> d8;
  return hn::DemoteTo(
      d8, blend(d, pair_bytes<kChannel>(d, p00, p10), pair_bytes<kChannel>(d, p01, p11), p));
}

HWY_INLINE void warp_vector_rgb(D32 d, std::uint8_t* out, const BorderedInput& in,
                                const Places& p) {
  const V32 p00 = gather_bytes(d, in.origin, p.offset);
  const V32 p01 = gather_bytes(d, in.origin + 3, p.offset);
  const V32 p10 = gather_bytes(d, in.origin + in.bytes_per_row, p.offset);
  const V32 p11 = gather_bytes(d, in.origin + in.bytes_per_row + 3, p.offset);
  const hn::Rebind<std::uint8_t, D32> d8;
  hn::StoreInterleaved3(warp_channel<0>(d, p00, p01, p10, p11, p),
                        warp_channel<1>(d, p00, p01, p10, p11, p),
                        warp_channel<2>(d, p00, p01, p10, p11, p), d8, out);
}

// The output is at least one vector wide; the last vector of a row overlaps the one before.
template <int kChannels>
void warp_rows(const MutableImageView& out, const BorderedInput& in, const FixedAffine& map) {
  const D32 d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int last = out.shape.width - lanes;
  const auto xx = static_cast<std::int32_t>(map.xx), yx = static_cast<std::int32_t>(map.yx);
  const V32 lane = hn::Iota(d, 0);
  const V32 lane_x = hn::Mul(lane, hn::Set(d, xx)), lane_y = hn::Mul(lane, hn::Set(d, yx));
  for (int y = 0; y < out.shape.height; ++y) {
    std::uint8_t* out_row = out.row(y);
    const auto row_x = static_cast<std::int32_t>(map.xy * y + map.x0);
    const auto row_y = static_cast<std::int32_t>(map.yy * y + map.y0);
    for (int x = 0;;) {
      const V32 fixed_x = hn::Add(hn::Set(d, row_x + x * xx), lane_x);
      const V32 fixed_y = hn::Add(hn::Set(d, row_y + x * yx), lane_y);
      const Places places = find_places<kChannels>(d, in, fixed_x, fixed_y);
      if constexpr (kChannels == 1) {
        warp_vector_grey(d, out_row + x, in, places);
      } else {
        warp_vector_rgb(d, out_row + 3 * x, in, places);
      }
      if (x == last) break;
      x = x + lanes < last ? x + lanes : last;
    }
  }
}

// False where the output is too narrow for a vector.
bool warp_simd(const MutableImageView& out, const BorderedInput& in, const FixedAffine& map) {
  if (out.shape.width < static_cast<int>(hn::Lanes(D32()))) return false;
  if (out.shape.channels == 1) {
    warp_rows<1>(out, in, map);
  } else {
    warp_rows<3>(out, in, map);
  }
  return true;
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace stoker::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <cstdlib>

#include "stoker/core/error.h"
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {

HWY_EXPORT(warp_simd);
constexpr int kBorder = 2;                              // black pixels on every side
constexpr int kOverrun = 4;                             // a gather reads three bytes past a pixel
constexpr std::int64_t kReach = std::int64_t{1} << 29;  // in 2^-16 pixel: differences fit 31 bits

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

// A linear map is largest at a corner, so four places tell whether 32 bits hold them all.
bool fits_32_bits(const ImageShape& out, const ImageShape& in, const FixedAffine& map) {
  if (in.height > (1 << 13) || in.width > (1 << 13)) return false;
  for (const std::int64_t x : {0, out.width - 1}) {
    for (const std::int64_t y : {0, out.height - 1}) {
      if (std::abs(map.xx * x + map.xy * y + map.x0) >= kReach) return false;
      if (std::abs(map.yx * x + map.yy * y + map.y0) >= kReach) return false;
    }
  }
  return true;
}

}  // namespace

void warp_affine(const MutableImageView& out, const ImageView& in, const FixedAffine& map,
                 WarpScratch& scratch) {
  STOKER_INVARIANT(out.shape.channels == in.shape.channels, "{} and {} channels",
                   out.shape.channels, in.shape.channels);
  if (!detail::use_reference_kernels() && fits_32_bits(out.shape, in.shape, map) &&
      HWY_DYNAMIC_DISPATCH(warp_simd)(out, add_border(in, scratch), map)) {
    return;
  }
  warp_affine_reference(out, in, map);
}

}  // namespace stoker
#endif  // HWY_ONCE

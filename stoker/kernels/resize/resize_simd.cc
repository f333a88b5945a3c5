#include "stoker/kernels/resize/resize.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/kernels/resize/resize_simd.cc"
#include <algorithm>
#include <cstring>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "stoker/kernels/resize/detail/resize_passes.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || !HWY_ARCH_X86

// The caller takes the plain loops.
const detail::ResizePasses* resize_passes() { return nullptr; }

#else

using detail::RowGroup;
using detail::RowSum;
using detail::TablesX;

using D32 = hn::ScalableTag<std::int32_t>;
using D16 = hn::Repartition<std::int16_t, D32>;
using D8 = hn::Repartition<std::uint8_t, D32>;
using V32 = hn::Vec<D32>;
using V16 = hn::Vec<D16>;
using V8 = hn::Vec<D8>;

constexpr std::size_t kBlock = 16;  // bytes; shuffles, interleaving and packing stay within a block
constexpr int kRows = static_cast<int>(hn::MaxLanes(D8()) / kBlock);
constexpr int kPixelsAtOnce = 4;

// 22-bit weights are too wide for the one instruction that multiplies pairs of 16-bit numbers and
// adds them, so they come in two parts: weight = 256 high + low. |weight| < 2^23 always: a tap's
// fraction of the sum stays below 1.3 even at borders that cut a filter with negative lobes.
struct Sums {
  V32 high, low;
};

HWY_INLINE Sums first_sums() { return {hn::Zero(D32()), hn::Set(D32(), detail::kHalfWeightSum)}; }

// Lanes hold two taps each, and so do the weights.
HWY_INLINE void add_pairs(Sums& sums, V16 values, V16 high, V16 low) {
  V32 unused = hn::Zero(D32());
  sums.high = hn::ReorderWidenMulAccumulate(D32(), values, high, sums.high, unused);
  sums.low = hn::ReorderWidenMulAccumulate(D32(), values, low, sums.low, unused);
}

HWY_INLINE V32 total(const Sums& sums) { return hn::Add(hn::ShiftLeft<8>(sums.high), sums.low); }

HWY_INLINE V32 whole(V32 sum) { return hn::ShiftRight<detail::kWeightOneBits>(sum); }

#if HWY_MAX_BYTES == 64
HWY_INLINE V8 pack_16(V16 a, V16 b) { return V8{_mm512_packus_epi16(a.raw, b.raw)}; }
#elif HWY_MAX_BYTES == 32
HWY_INLINE V8 pack_16(V16 a, V16 b) { return V8{_mm256_packus_epi16(a.raw, b.raw)}; }
#else
HWY_INLINE V8 pack_16(V16 a, V16 b) { return V8{_mm_packus_epi16(a.raw, b.raw)}; }
#endif

// Bytes of the four vectors, limited to 0..255; in each block first a's, then b's, c's and d's.
HWY_INLINE V8 pack(V32 a, V32 b, V32 c, V32 d) {
  return pack_16(hn::ReorderDemote2To(D16(), a, b), hn::ReorderDemote2To(D16(), c, d));
}

// A pair of 16-bit weights, in all lanes.
HWY_INLINE V16 pair_of(const std::int16_t* weights) {
  std::int32_t both;
  std::memcpy(&both, weights, sizeof both);
  return hn::BitCast(D16(), hn::Set(D32(), both));
}

// ---- Along x: a block holds what is one row's, a vector as many rows as it has blocks.

HWY_INLINE V8 load_rows(const std::uint8_t* const* rows, std::size_t offset) {
  const hn::Full128<std::uint8_t> d;
#if HWY_MAX_BYTES == 64
  const hn::Full256<std::uint8_t> d2;
  return hn::Combine(
      D8(), hn::Combine(d2, hn::LoadU(d, rows[3] + offset), hn::LoadU(d, rows[2] + offset)),
      hn::Combine(d2, hn::LoadU(d, rows[1] + offset), hn::LoadU(d, rows[0] + offset)));
#elif HWY_MAX_BYTES == 32
  return hn::Combine(D8(), hn::LoadU(d, rows[1] + offset), hn::LoadU(d, rows[0] + offset));
#else
  return hn::LoadU(d, rows[0] + offset);
#endif
}

// The weights of one pixel: all high parts, then all low ones.
struct PixelWeights {
  const std::int16_t* high;
  const std::int16_t* low;
};

// Red, green and blue of one pixel; the fourth lane is of no meaning. Four taps a step.
HWY_INLINE V32 sum_rgb(const std::uint8_t* const* rows, std::size_t offset, PixelWeights weights,
                       int steps) {
  constexpr std::uint8_t kNone = 0x80;
  alignas(16) static constexpr std::uint8_t kTaps01[16] = {
      0, kNone, 3, kNone, 1, kNone, 4, kNone, 2, kNone, 5, kNone, kNone, kNone, kNone, kNone};
  alignas(16) static constexpr std::uint8_t kTaps23[16] = {
      6, kNone, 9, kNone, 7, kNone, 10, kNone, 8, kNone, 11, kNone, kNone, kNone, kNone, kNone};
  const V8 taps01 = hn::LoadDup128(D8(), kTaps01), taps23 = hn::LoadDup128(D8(), kTaps23);
  Sums sums = first_sums();
  for (int i = 0; i < steps; ++i, offset += 12) {
    const V8 pixels = load_rows(rows, offset);
    const V16 first = hn::BitCast(D16(), hn::TableLookupBytesOr0(pixels, taps01));
    const V16 second = hn::BitCast(D16(), hn::TableLookupBytesOr0(pixels, taps23));
    add_pairs(sums, first, pair_of(weights.high + 4 * i), pair_of(weights.low + 4 * i));
    add_pairs(sums, second, pair_of(weights.high + 4 * i + 2), pair_of(weights.low + 4 * i + 2));
  }
  return total(sums);
}

// One grey pixel: its sum is that of the block's lanes. Eight taps a step.
HWY_INLINE V32 sum_grey(const std::uint8_t* const* rows, std::size_t offset, PixelWeights weights,
                        int steps) {
  Sums sums{hn::Zero(D32()), hn::Zero(D32())};
  for (int i = 0; i < steps; ++i, offset += 8) {
    const V8 pixels = load_rows(rows, offset);
    const V16 values = hn::BitCast(D16(), hn::InterleaveLower(D8(), pixels, hn::Zero(D8())));
    add_pairs(sums, values, hn::LoadDup128(D16(), weights.high + 8 * i),
              hn::LoadDup128(D16(), weights.low + 8 * i));
  }
  return total(sums);
}

// The sums of the lanes of each block of a, b, c, d; one lane each.
HWY_INLINE V32 sums_of_blocks(V32 a, V32 b, V32 c, V32 d) {
  const D32 d32;
  const hn::Repartition<std::int64_t, D32> d64;
  const V32 ab = hn::Add(hn::InterleaveLower(d32, a, b), hn::InterleaveUpper(d32, a, b));
  const V32 cd = hn::Add(hn::InterleaveLower(d32, c, d), hn::InterleaveUpper(d32, c, d));
  const auto ab64 = hn::BitCast(d64, ab), cd64 = hn::BitCast(d64, cd);
  return hn::Add(hn::BitCast(d32, hn::InterleaveLower(d64, ab64, cd64)),
                 hn::BitCast(d32, hn::InterleaveUpper(d64, ab64, cd64)));
}

HWY_INLINE void store_rows(const RowGroup& group, std::size_t place, V8 bytes) {
  alignas(64) std::uint8_t blocks[hn::MaxLanes(D8())];
  hn::Store(bytes, D8(), blocks);
  for (int row = 0; row < kRows; ++row) {
    std::memcpy(group.out + row * group.out_stride + place, blocks + row * kBlock, kBlock);
  }
}

// Four red-green-blue-nothing to twelve bytes; the next pixels' go over the rest.
HWY_INLINE V8 without_fourth(V8 bytes) {
  alignas(16) static constexpr std::uint8_t kColours[16] = {0,  1,  2,  4,  5,    6,    8,    9,
                                                            10, 12, 13, 14, 0x80, 0x80, 0x80, 0x80};
  return hn::TableLookupBytesOr0(bytes, hn::LoadDup128(D8(), kColours));
}

// kSteps 0: as many as the table says. Known ones need no loop.
template <int kChannels, int kSteps>
HWY_INLINE void along_x_with(const RowGroup& group, const TablesX& tables) {
  const int steps = kSteps == 0 ? tables.steps : kSteps;
  const std::size_t stride = std::size_t{kChannels == 1 ? 8 : 4} * steps;
  const auto* weights = reinterpret_cast<const std::int16_t*>(tables.weights);
  // A copy: bytes that are stored might otherwise change it, as the compiler sees it.
  const RowGroup rows = group;
  for (int x = 0; x < tables.outputs; x += kPixelsAtOnce) {
    V32 sums[kPixelsAtOnce];
    HWY_UNROLL(4)
    for (int i = 0; i < kPixelsAtOnce; ++i, weights += 2 * stride) {
      const PixelWeights pixel{weights, weights + stride};
      const std::size_t offset = tables.offsets[x + i];
      sums[i] = kChannels == 1 ? sum_grey(rows.rows, offset, pixel, steps)
                               : sum_rgb(rows.rows, offset, pixel, steps);
    }
    if constexpr (kChannels == 1) {
      const V32 four = whole(hn::Add(sums_of_blocks(sums[0], sums[1], sums[2], sums[3]),
                                     hn::Set(D32(), detail::kHalfWeightSum)));
      store_rows(rows, x, pack(four, four, four, four));
    } else {
      store_rows(
          rows, std::size_t{3} * x,
          without_fourth(pack(whole(sums[0]), whole(sums[1]), whole(sums[2]), whole(sums[3]))));
    }
  }
}

void along_x(const RowGroup& group, const TablesX& tables) {
  if (tables.channels == 1) return along_x_with<1, 0>(group, tables);
  if (tables.steps == 1) return along_x_with<3, 1>(group, tables);
  if (tables.steps == 2) return along_x_with<3, 2>(group, tables);
  along_x_with<3, 0>(group, tables);
}

// The high and low parts of a run of weights.
void split(std::int16_t* high, std::int16_t* low, const std::int32_t* weights, int count) {
  for (int i = 0; i < count; ++i) {
    high[i] = static_cast<std::int16_t>(weights[i] >> 8);
    low[i] = static_cast<std::int16_t>(weights[i] & 0xFF);
  }
}

bool prepare_x(TablesX& tables, int outputs, int channels, ResizeScratch& scratch) {
  const ResizeAxis& axis = scratch.x;
  const int padded = (outputs + kPixelsAtOnce - 1) / kPixelsAtOnce * kPixelsAtOnce;
  const std::size_t bytes_per_pixel = sizeof(std::int16_t) * 2 * axis.stride;
  std::uint8_t* memory = detail::aligned_memory(scratch.tables, padded * bytes_per_pixel);
  if (scratch.offsets.size() < static_cast<std::size_t>(padded)) scratch.offsets.resize(padded);
  for (int x = 0; x < padded; ++x) {
    const std::size_t from = std::min(x, outputs - 1);
    auto* high = reinterpret_cast<std::int16_t*>(memory + x * bytes_per_pixel);
    split(high, high + axis.stride, axis.weights.data() + from * axis.stride, axis.stride);
    scratch.offsets[x] = axis.first[from] * channels;
  }
  tables = {.channels = channels,
            .outputs = outputs,
            .steps = axis.stride / (channels == 1 ? 8 : 4),
            .offsets = scratch.offsets.data(),
            .weights = memory};
  return true;
}

// ---- Along y: a vector holds neighbours of one row.

// Two rows of a sum; where their number is odd the last one's partner is itself, with weight zero.
struct RowPair {
  const std::uint8_t* upper;
  const std::uint8_t* lower;
  std::int32_t high, low;  // two 16-bit weights each
};

HWY_INLINE RowPair row_pair(const RowSum& sum, int i) {
  const std::uint8_t* upper = sum.rows + i * sum.stride;
  const std::int32_t w0 = sum.weights[i], w1 = sum.weights[i + 1];
  return {.upper = upper,
          .lower = i + 1 < sum.count ? upper + sum.stride : upper,
          .high = (w1 >> 8) << 16 | (w0 >> 8 & 0xFFFF),
          .low = (w1 & 0xFF) << 16 | (w0 & 0xFF)};
}

HWY_INLINE V16 in_all_lanes(std::int32_t pair) { return hn::BitCast(D16(), hn::Set(D32(), pair)); }

// The four quarters of a vector's bytes of two rows: pairs of 16 bits, as pack() wants them back.
template <int kQuarter>
HWY_INLINE V16 quarter(V8 left, V8 right) {
  const V8 half = kQuarter < 2 ? left : right, zero = hn::Zero(D8());
  return hn::BitCast(D16(), kQuarter % 2 == 0 ? hn::InterleaveLower(D8(), half, zero)
                                              : hn::InterleaveUpper(D8(), half, zero));
}

template <int kQuarter, int kPairs>
HWY_INLINE V32 sum_quarter(const RowPair* pairs, const V8* left, const V8* right) {
  Sums sums = first_sums();
  HWY_UNROLL(4)
  for (int i = 0; i < kPairs; ++i) {
    add_pairs(sums, quarter<kQuarter>(left[i], right[i]), in_all_lanes(pairs[i].high),
              in_all_lanes(pairs[i].low));
  }
  return whole(total(sums));
}

// A vector of output bytes from place `x` of the rows on; quarter after quarter, which needs few
// registers.
template <int kPairs>
HWY_INLINE V8 sum_column(const RowPair* pairs, std::size_t x) {
  V8 left[kPairs], right[kPairs];
  HWY_UNROLL(4)
  for (int i = 0; i < kPairs; ++i) {
    const V8 upper = hn::LoadU(D8(), pairs[i].upper + x),
             lower = hn::LoadU(D8(), pairs[i].lower + x);
    left[i] = hn::InterleaveLower(D8(), upper, lower);
    right[i] = hn::InterleaveUpper(D8(), upper, lower);
  }
  return pack(
      sum_quarter<0, kPairs>(pairs, left, right), sum_quarter<1, kPairs>(pairs, left, right),
      sum_quarter<2, kPairs>(pairs, left, right), sum_quarter<3, kPairs>(pairs, left, right));
}

// The same for any number of rows.
HWY_INLINE V8 sum_column_of_many(const RowSum& sum, std::size_t x) {
  Sums sums[4] = {first_sums(), first_sums(), first_sums(), first_sums()};
  for (int i = 0; i < sum.count; i += 2) {
    const RowPair pair = row_pair(sum, i);
    const V8 upper = hn::LoadU(D8(), pair.upper + x), lower = hn::LoadU(D8(), pair.lower + x);
    const V8 left = hn::InterleaveLower(D8(), upper, lower);
    const V8 right = hn::InterleaveUpper(D8(), upper, lower);
    const V16 high = in_all_lanes(pair.high), low = in_all_lanes(pair.low);
    add_pairs(sums[0], quarter<0>(left, right), high, low);
    add_pairs(sums[1], quarter<1>(left, right), high, low);
    add_pairs(sums[2], quarter<2>(left, right), high, low);
    add_pairs(sums[3], quarter<3>(left, right), high, low);
  }
  return pack(whole(total(sums[0])), whole(total(sums[1])), whole(total(sums[2])),
              whole(total(sums[3])));
}

// kPairs 0: any number.
template <int kPairs>
HWY_INLINE void along_y_pairs(std::uint8_t* out, const RowSum& sum) {
  RowPair pairs[kPairs == 0 ? 1 : kPairs];
  for (int i = 0; i < kPairs; ++i) pairs[i] = row_pair(sum, 2 * i);
  constexpr std::size_t kVector = hn::MaxLanes(D8());
  const std::size_t last = sum.bytes - std::min(sum.bytes, kVector);
  // The last vector goes once more over some of the one before.
  for (std::size_t x = 0;; x = std::min(x + kVector, last)) {
    V8 bytes;
    if constexpr (kPairs == 0) {
      bytes = sum_column_of_many(sum, x);
    } else {
      bytes = sum_column<kPairs>(pairs, x);
    }
    if (sum.bytes < kVector) {
      alignas(64) std::uint8_t memory[kVector];
      hn::Store(bytes, D8(), memory);
      std::memcpy(out, memory, sum.bytes);
      return;
    }
    hn::StoreU(bytes, D8(), out + x);
    if (x == last) return;
  }
}

void along_y(std::uint8_t* out, const RowSum& sum) {
  switch ((sum.count + 1) / 2) {
    case 1:
      return along_y_pairs<1>(out, sum);
    case 2:
      return along_y_pairs<2>(out, sum);
    case 3:
      return along_y_pairs<3>(out, sum);
    default:
      return along_y_pairs<0>(out, sum);
  }
}

const detail::ResizePasses* resize_passes() {
  static constexpr detail::ResizePasses kPasses = {.rows_at_once = kRows,
                                                   .vector_bytes = hn::MaxLanes(D8()),
                                                   .prepare_x = prepare_x,
                                                   .along_x = along_x,
                                                   .along_y = along_y};
  return &kPasses;
}

#endif

}  // namespace stoker::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace stoker::detail {
HWY_EXPORT(resize_passes);

const ResizePasses* resize_passes_simd() { return HWY_DYNAMIC_DISPATCH(resize_passes)(); }

}  // namespace stoker::detail
#endif  // HWY_ONCE

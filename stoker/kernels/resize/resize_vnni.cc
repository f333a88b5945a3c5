// The passes for CPUs with AVX-512 VNNI and VBMI (Ice Lake, Zen 4 and later), which Highway 1.0
// does not offer: one instruction multiplies four bytes with four signed ones and adds all to a
// 32-bit lane, another fetches 64 bytes from any places of 64. Weights are then three signed digits
// of 8 bits: weight = 2^16 d2 + 2^8 d1 + d0.
#include <algorithm>
#include <cstring>

#include "stoker/kernels/detail/vnni.h"
#include "stoker/kernels/resize/detail/resize_passes.h"

#ifdef STOKER_HAS_VNNI

namespace stoker::detail {
namespace {

constexpr int kVector = 64;              // bytes
constexpr int kLanes = 16;               // sums a vector
constexpr int kTaps = 4;                 // a step
constexpr int kMostSteps = 6;            // along x
constexpr std::size_t kPlaneBytes = 64;  // one digit of four taps for each lane

// The digits of four weights, in bytes: d0 of all in the lowest 32-bit lane, then d1, d2.
// Adding and then flipping the top bits of the lower bytes makes them signed digits.
STOKER_VNNI_INLINE __m128i digits_of(const std::int32_t* weights) {
  const __m128i tops = _mm_set1_epi32(0x808080);
  const __m128i weight = _mm_loadu_si128(reinterpret_cast<const __m128i*>(weights));
  const __m128i digits = _mm_xor_si128(_mm_add_epi32(weight, tops), tops);
  return _mm_shuffle_epi8(digits,
                          _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
}

// ---- Along x: a lane is one value of one pixel. Sixteen lanes read from one piece of 64 bytes.

// A group of sixteen values in the table: 64 places to fetch bytes from, then for every step the
// planes of d2, d1, d0.
constexpr std::size_t group_bytes(int steps) { return kVector + 3 * kPlaneBytes * steps; }

// The steps of a group are 4 pixels apart, so the places are the same for all of them.
template <int kSteps>
STOKER_VNNI_INLINE __m512i sum_group(const std::uint8_t* pixels, const std::uint8_t* group,
                                     int step_bytes) {
  const __m512i places = _mm512_load_si512(group);
  __m512i values[kSteps];
  for (int i = 0; i < kSteps; ++i) {
    values[i] = _mm512_permutexvar_epi8(places, _mm512_loadu_si512(pixels + i * step_bytes));
  }
  const std::uint8_t* planes = group + kVector;
  __m512i sum = _mm512_set1_epi32(kHalfWeightSum >> 16);
  for (int digit = 0; digit < 3; ++digit) {
    if (digit > 0) sum = _mm512_slli_epi32(sum, 8);
    for (int i = 0; i < kSteps; ++i, planes += kPlaneBytes) {
      sum = _mm512_dpbusd_epi32(sum, values[i], _mm512_load_si512(planes));
    }
  }
  return _mm512_srai_epi32(sum, kWeightOneBits);
}

STOKER_VNNI_INLINE __m512i pack(const __m512i* sums) {
  return _mm512_packus_epi16(_mm512_packs_epi32(sums[0], sums[1]),
                             _mm512_packs_epi32(sums[2], sums[3]));
}

template <int kSteps>
STOKER_VNNI void along_x_steps(const RowGroup& group, const TablesX& tables) {
  const int values = tables.outputs * tables.channels, step_bytes = kTaps * tables.channels;
  // Packing leaves blocks of 16 bytes, each with four bytes of all four groups.
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const std::uint8_t* table = tables.weights;
  const std::int32_t* offsets = tables.offsets;
  for (int x = 0; x < values; x += kVector, offsets += 4, table += 4 * group_bytes(kSteps)) {
    for (int row = 0; row < kMostRowsAtOnce; ++row) {
      __m512i sums[4];
      for (int i = 0; i < 4; ++i) {
        sums[i] = sum_group<kSteps>(group.rows[row] + offsets[i], table + i * group_bytes(kSteps),
                                    step_bytes);
      }
      const __m512i bytes = _mm512_permutexvar_epi32(order, pack(sums));
      _mm512_storeu_si512(group.out + row * group.out_stride + x, bytes);
    }
  }
}

void along_x(const RowGroup& group, const TablesX& tables) {
  constexpr void (*kSteps[kMostSteps])(const RowGroup&, const TablesX&) = {
      along_x_steps<1>, along_x_steps<2>, along_x_steps<3>,
      along_x_steps<4>, along_x_steps<5>, along_x_steps<6>};
  kSteps[tables.steps - 1](group, tables);
}

// Offsets of all groups; false if one of them reads from more than 64 bytes.
bool place_groups(std::int32_t* offsets, int groups, int values, int channels,
                  const ResizeAxis& axis) {
  for (int group = 0; group < groups; ++group) {
    const int begin = std::min(group * kLanes, values - 1);
    const int end = std::min(begin + kLanes, values) - 1;
    const auto [low, high] = std::minmax(axis.first[begin / channels], axis.first[end / channels]);
    if ((high - low) * channels + channels * kTaps > kVector) return false;
    offsets[group] = low * channels;
  }
  return true;
}

STOKER_VNNI void fill_group_lanes(std::uint8_t* memory, const std::int32_t* offsets, int outputs,
                                  int channels, const ResizeAxis& axis) {
  const int steps = axis.stride / kTaps;
  // Byte t of a lane's places is t pixels further.
  const std::uint32_t tap_places = 0x03020100U * static_cast<std::uint32_t>(channels);
  for (int x = 0, value = 0; x < outputs; ++x) {
    const std::int32_t* weights = axis.weights.data() + static_cast<std::size_t>(x) * axis.stride;
    alignas(16) std::uint32_t digits[kMostSteps][4];
    for (int i = 0; i < steps; ++i) {
      _mm_store_si128(reinterpret_cast<__m128i*>(digits[i]), digits_of(weights + kTaps * i));
    }
    for (int c = 0; c < channels; ++c, ++value) {
      const int group = value / kLanes;
      auto* lane =
          reinterpret_cast<std::uint32_t*>(memory + group * group_bytes(steps)) + value % kLanes;
      const int place = axis.first[x] * channels + c - offsets[group];
      lane[0] = static_cast<std::uint32_t>(place) * 0x01010101U + tap_places;
      for (int digit = 2; digit >= 0; --digit) {
        for (int i = 0; i < steps; ++i) *(lane += kLanes) = digits[i][digit];
      }
    }
  }
}

bool prepare_x(TablesX& tables, int outputs, int channels, ResizeScratch& scratch) {
  const int steps = scratch.x.stride / kTaps, values = outputs * channels;
  if (steps > kMostSteps) return false;
  const int groups = (values + kVector - 1) / kVector * (kVector / kLanes);
  if (scratch.offsets.size() < static_cast<std::size_t>(groups)) scratch.offsets.resize(groups);
  if (!place_groups(scratch.offsets.data(), groups, values, channels, scratch.x)) return false;
  std::uint8_t* memory = aligned_memory(scratch.tables, groups * group_bytes(steps));
  // Lanes after the last value fetch and weigh nothing.
  const std::size_t full = values / kLanes * group_bytes(steps);
  std::memset(memory + full, 0, groups * group_bytes(steps) - full);
  fill_group_lanes(memory, scratch.offsets.data(), outputs, channels, scratch.x);
  tables = {.channels = channels,
            .outputs = outputs,
            .steps = steps,
            .offsets = scratch.offsets.data(),
            .weights = memory};
  return true;
}

// ---- Along y: a lane is one byte of a row; four rows a step.

// Bytes of four rows side by side, for 64 places.
STOKER_VNNI_INLINE void interleave(__m512i* quads, const std::uint8_t* const* rows, std::size_t x) {
  const __m512i a = _mm512_loadu_si512(rows[0] + x), b = _mm512_loadu_si512(rows[1] + x),
                c = _mm512_loadu_si512(rows[2] + x), d = _mm512_loadu_si512(rows[3] + x);
  const __m512i ab_low = _mm512_unpacklo_epi8(a, b), ab_high = _mm512_unpackhi_epi8(a, b);
  const __m512i cd_low = _mm512_unpacklo_epi8(c, d), cd_high = _mm512_unpackhi_epi8(c, d);
  quads[0] = _mm512_unpacklo_epi16(ab_low, cd_low);
  quads[1] = _mm512_unpackhi_epi16(ab_low, cd_low);
  quads[2] = _mm512_unpacklo_epi16(ab_high, cd_high);
  quads[3] = _mm512_unpackhi_epi16(ab_high, cd_high);
}

// Up to four rows of a sum; where it has fewer, its last row with weight zero.
struct RowStep {
  const std::uint8_t* rows[kTaps];
  std::uint32_t digits[4];
};

STOKER_VNNI_INLINE RowStep row_step(const RowSum& sum, int first) {
  RowStep step;
  for (int i = 0; i < kTaps; ++i) {
    step.rows[i] = sum.rows + std::min(first + i, sum.count - 1) * sum.stride;
  }
  _mm_storeu_si128(reinterpret_cast<__m128i*>(step.digits), digits_of(sum.weights + first));
  return step;
}

template <int kSteps>
STOKER_VNNI_INLINE __m512i sum_columns(const RowStep* steps, std::size_t x) {
  __m512i quads[kSteps][4], sums[4];
  for (int i = 0; i < kSteps; ++i) interleave(quads[i], steps[i].rows, x);
  for (int part = 0; part < 4; ++part) {
    __m512i sum = _mm512_set1_epi32(kHalfWeightSum >> 16);
    for (int digit = 2; digit >= 0; --digit) {
      if (digit < 2) sum = _mm512_slli_epi32(sum, 8);
      for (int i = 0; i < kSteps; ++i) {
        const auto weights = static_cast<int>(steps[i].digits[digit]);
        sum = _mm512_dpbusd_epi32(sum, quads[i][part], _mm512_set1_epi32(weights));
      }
    }
    sums[part] = _mm512_srai_epi32(sum, kWeightOneBits);
  }
  return pack(sums);
}

// For any number of steps: a sum for each digit, put together at the end.
STOKER_VNNI_INLINE __m512i sum_columns_of_many(const RowSum& sum, std::size_t x) {
  __m512i digit_sums[3][4];
  for (auto& parts : digit_sums) {
    for (auto& part : parts) part = _mm512_setzero_si512();
  }
  for (int first = 0; first < sum.count; first += kTaps) {
    const RowStep step = row_step(sum, first);
    __m512i quads[4];
    interleave(quads, step.rows, x);
    for (int digit = 0; digit < 3; ++digit) {
      const __m512i weights = _mm512_set1_epi32(static_cast<int>(step.digits[digit]));
      for (int part = 0; part < 4; ++part) {
        digit_sums[digit][part] =
            _mm512_dpbusd_epi32(digit_sums[digit][part], quads[part], weights);
      }
    }
  }
  __m512i sums[4];
  for (int part = 0; part < 4; ++part) {
    const __m512i upper = _mm512_add_epi32(_mm512_slli_epi32(digit_sums[2][part], 16),
                                           _mm512_slli_epi32(digit_sums[1][part], 8));
    const __m512i lower = _mm512_add_epi32(digit_sums[0][part], _mm512_set1_epi32(kHalfWeightSum));
    sums[part] = _mm512_srai_epi32(_mm512_add_epi32(upper, lower), kWeightOneBits);
  }
  return pack(sums);
}

// kSteps 0: any number.
template <int kSteps>
STOKER_VNNI void along_y_steps(std::uint8_t* out, const RowSum& sum) {
  RowStep steps[std::max(kSteps, 1)];
  for (int i = 0; i < kSteps; ++i) steps[i] = row_step(sum, kTaps * i);
  const std::size_t last = sum.bytes - std::min<std::size_t>(sum.bytes, kVector);
  // The last vector goes once more over some of the one before.
  for (std::size_t x = 0;; x = std::min(x + kVector, last)) {
    __m512i bytes;
    if constexpr (kSteps == 0) {
      bytes = sum_columns_of_many(sum, x);
    } else {
      bytes = sum_columns<kSteps>(steps, x);
    }
    if (sum.bytes < kVector) {
      _mm512_mask_storeu_epi8(out, (__mmask64{1} << sum.bytes) - 1, bytes);
      return;
    }
    _mm512_storeu_si512(out + x, bytes);
    if (x == last) return;
  }
}

void along_y(std::uint8_t* out, const RowSum& sum) {
  if (sum.count <= kTaps) return along_y_steps<1>(out, sum);
  if (sum.count <= 2 * kTaps) return along_y_steps<2>(out, sum);
  along_y_steps<0>(out, sum);
}

}  // namespace

const ResizePasses* resize_passes_vnni() noexcept {
  static constexpr ResizePasses kPasses = {.rows_at_once = kMostRowsAtOnce,
                                           .vector_bytes = kVector,
                                           .prepare_x = prepare_x,
                                           .along_x = along_x,
                                           .along_y = along_y};
  return &kPasses;
}

}  // namespace stoker::detail

#else

namespace stoker::detail {
const ResizePasses* resize_passes_vnni() noexcept { return nullptr; }
}  // namespace stoker::detail

#endif

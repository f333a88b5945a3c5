#include <algorithm>
#include <array>
#include <cstring>

#include "stoker/core/invariant.h"
#include "stoker/kernels/correlation/detail/byte_products.h"
#include "stoker/kernels/correlation/detail/tiles.h"
#include "stoker/kernels/detail/vnni.h"
#include "stoker/kernels/simd.h"

namespace stoker::detail {

// Output row r of four meets row i of a group's four input rows with kernel row 4 group + i - r.
ByteKernel byte_kernel(int rows, int columns, const std::vector<std::int32_t>& weights) {
  ByteKernel kernel{rows, columns, (rows + 3 + 3) / 4};
  for (int group = 0; group < kernel.groups; ++group) {
    for (int j = 0; j < columns; ++j) {
      for (int r = 0; r < 4; ++r) {
        std::uint32_t four = 0;
        for (int i = 0; i < 4; ++i) {
          const int row = 4 * group + i - r;
          if (row < 0 || row >= rows) continue;
          four |= (static_cast<std::uint32_t>(weights[row * columns + j]) & 0xFF) << (8 * i);
        }
        kernel.weights.push_back(static_cast<std::int32_t>(four));
      }
    }
  }
  return kernel;
}

}  // namespace stoker::detail

#ifdef STOKER_HAS_VNNI

namespace stoker::detail {
namespace {

constexpr int kLanes = 16;  // sums a vector
constexpr int kWide = 4;    // vectors side by side
constexpr int kBlock = kWide * kLanes;
constexpr int kRows = 4;       // output rows together, and input rows in a group
constexpr int kBandRows = 32;  // output rows of a tile

// Where the bytes of four rows of sixteen go.
struct alignas(64) Places : std::array<std::uint8_t, 64> {};
constexpr Places kPlaces = [] {
  Places places{};
  for (int column = 0; column < kLanes; ++column) {
    for (int row = 0; row < 4; ++row) {
      places[4 * column + row] = static_cast<std::uint8_t>(kLanes * row + column);
    }
  }
  return places;
}();

// Four rows byte by byte beside each other, so that a 32-bit lane holds one column of them.
STOKER_VNNI void interleave(std::uint8_t* out, const std::array<const std::uint8_t*, 4>& rows,
                            int count) {
  const __m512i places = _mm512_load_si512(kPlaces.data());
  for (int x = 0; x < count; x += kLanes) {
    const int left = std::min(kLanes, count - x);
    const auto mask = static_cast<__mmask16>((1U << left) - 1);
    __m512i four = _mm512_castsi128_si512(_mm_maskz_loadu_epi8(mask, rows[0] + x));
    four = _mm512_inserti32x4(four, _mm_maskz_loadu_epi8(mask, rows[1] + x), 1);
    four = _mm512_inserti32x4(four, _mm_maskz_loadu_epi8(mask, rows[2] + x), 2);
    four = _mm512_inserti32x4(four, _mm_maskz_loadu_epi8(mask, rows[3] + x), 3);
    _mm512_storeu_si512(out + 4 * x, _mm512_permutexvar_epi8(places, four));
  }
}

struct Sums {
  __m512i at[kRows][kWide];
};

// Sixteen sums a vector, for a column of the kernel and a group of its rows.
STOKER_VNNI_INLINE void add_column(Sums& sums, const std::uint8_t* in,
                                   const std::int32_t* weights) {
  __m512i values[kWide];
#pragma GCC unroll 4
  for (int v = 0; v < kWide; ++v) {
    values[v] = _mm512_loadu_si512(in + 64 * v);
    // As in correlation_simd.cc: fetched once, not for each of its products.
    asm("" : "+v"(values[v]));
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    const __m512i four = _mm512_set1_epi32(weights[r]);
#pragma GCC unroll 4
    for (int v = 0; v < kWide; ++v) {
      sums.at[r][v] = _mm512_dpbusd_epi32(sums.at[r][v], values[v], four);
    }
  }
}

template <class Out>
struct Target {
  Out* data;
  std::ptrdiff_t stride;
  int rows, columns;
  bool stream;
};

STOKER_VNNI_INLINE bool may_stream(const void* out, bool stream) {
  return stream && reinterpret_cast<std::uintptr_t>(out) % 64 == 0;
}

STOKER_VNNI_INLINE void put(std::int32_t* out, __m512i sum, int columns, bool stream) {
  if (columns < kLanes) {
    _mm512_mask_storeu_epi32(out, static_cast<__mmask16>((1U << columns) - 1), sum);
  } else if (may_stream(out, stream)) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(out), sum);
  } else {
    _mm512_storeu_si512(out, sum);
  }
}

STOKER_VNNI_INLINE void put_row(std::int32_t* out, const __m512i* sums, int columns, bool stream) {
#pragma GCC unroll 4
  for (int v = 0; v < kWide; ++v) {
    if (columns > v * kLanes) put(out + v * kLanes, sums[v], columns - v * kLanes, stream);
  }
}

STOKER_VNNI_INLINE void put_row(std::uint8_t* out, const __m512i* sums, int columns, bool stream) {
  // Packing leaves blocks of 16 bytes, each with four bytes of all four vectors.
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i packed = _mm512_packus_epi16(_mm512_packs_epi32(sums[0], sums[1]),
                                             _mm512_packs_epi32(sums[2], sums[3]));
  const __m512i bytes = _mm512_permutexvar_epi32(order, packed);
  if (columns < kBlock) {
    _mm512_mask_storeu_epi8(out, (std::uint64_t{1} << columns) - 1, bytes);
  } else if (may_stream(out, stream)) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(out), bytes);
  } else {
    _mm512_storeu_si512(out, bytes);
  }
}

// Up to four rows of up to 64 columns; `in` is the first group's first column, `step` bytes from
// group to group.
template <class Out>
STOKER_VNNI void block(const Target<Out>& out, const std::uint8_t* in, std::size_t step,
                       const ByteKernel& kernel) {
  Sums sums;
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kWide; ++v) sums.at[r][v] = _mm512_setzero_si512();
  }
  const std::int32_t* weights = kernel.weights.data();
  for (int group = 0; group < kernel.groups; ++group, in += step) {
#pragma GCC unroll 1
    for (int j = 0; j < kernel.columns; ++j, weights += kRows) {
      add_column(sums, in + 4 * j, weights);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    if (r >= out.rows) return;
    put_row(out.data + r * out.stride, sums.at[r], out.columns, out.stream);
  }
}

template <class Out>
class ByteWorker {
 public:
  ByteWorker(const Plane<Out>& out, const Plane<const std::uint8_t>& image,
             const ByteKernel& kernel)
      : out_(out),
        image_(image),
        kernel_(kernel),
        zeros_(image.columns),
        // What is read beyond the last column belongs to sums that are not stored.
        step_(std::size_t{4} * (kTileColumns + 3 * kBlock + kernel.columns)),
        buffer_(step_ * (kBandRows / kRows + kernel.groups)),
        stream_(out.size() * sizeof(Out) > kStreamBytes) {}

  void band(int top, int bottom) {
    // Tiles begin where vectors of the result are aligned.
    const auto place = reinterpret_cast<std::uintptr_t>(out_.data);
    const int shift = static_cast<int>((64 - place % 64) % 64 / sizeof(Out));
    for (int y = top; y < bottom; y += kBandRows) {
      for (int x = 0; x < image_.columns;) {
        const int end = std::min(x + kTileColumns + (x == 0 ? shift : 0), image_.columns);
        tile(y, std::min(y + kBandRows, bottom), x, end);
        x = end;
      }
    }
  }

 private:
  void tile(int top, int bottom, int left, int right) {
    const int bands = (bottom - top + kRows - 1) / kRows;
    const int first = top - kernel_.rows / 2;
    for (int group = 0; group < bands + kernel_.groups - 1; ++group) {
      fill(buffer_.data() + group * step_, first + 4 * group, left - kernel_.columns / 2,
           right + kernel_.columns / 2);
    }
    for (int band = 0; band < bands; ++band) {
      const int y = top + band * kRows;
      for (int x = left; x < right; x += kBlock) {
        const Target<Out> target{out_.row(y) + x, out_.stride, std::min(kRows, bottom - y),
                                 std::min(kBlock, right - x), stream_};
        block(target, buffer_.data() + band * step_ + 4 * (x - left), step_, kernel_);
      }
    }
  }

  // Four rows from `row` on, columns [left, right), which may lie outside.
  void fill(std::uint8_t* group, int row, int left, int right) {
    const int from = std::max(left, 0), to = std::min(right, image_.columns);
    if (left < 0 || right > image_.columns) std::memset(group, 0, step_);
    std::array<const std::uint8_t*, 4> rows{};
    for (int i = 0; i < 4; ++i) {
      const bool real = row + i >= 0 && row + i < image_.rows;
      rows[i] = (real ? image_.row(row + i) : zeros_.data()) + from;
    }
    if (from < to) interleave(group + 4 * (from - left), rows, to - from);
  }

  Plane<Out> out_;
  Plane<const std::uint8_t> image_;
  const ByteKernel& kernel_;
  std::vector<std::uint8_t> zeros_;
  std::size_t step_;
  std::vector<std::uint8_t> buffer_;
  bool stream_;
};

}  // namespace

bool byte_products_available() { return use_vnni_kernels(); }

void byte_products_band(const Plane<std::int32_t>& out, const Plane<const std::uint8_t>& image,
                        const ByteKernel& kernel, int top, int bottom) {
  ByteWorker<std::int32_t>(out, image, kernel).band(top, bottom);
}

void byte_products_band(const Plane<std::uint8_t>& out, const Plane<const std::uint8_t>& image,
                        const ByteKernel& kernel, int top, int bottom) {
  ByteWorker<std::uint8_t>(out, image, kernel).band(top, bottom);
}

}  // namespace stoker::detail

#else

namespace stoker::detail {
bool byte_products_available() { return false; }
void byte_products_band(const Plane<std::int32_t>&, const Plane<const std::uint8_t>&,
                        const ByteKernel&, int, int) {
  STOKER_INVARIANT(false, "no such instructions");
}
void byte_products_band(const Plane<std::uint8_t>&, const Plane<const std::uint8_t>&,
                        const ByteKernel&, int, int) {
  STOKER_INVARIANT(false, "no such instructions");
}
}  // namespace stoker::detail

#endif

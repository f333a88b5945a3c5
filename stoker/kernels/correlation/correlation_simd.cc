#include <algorithm>
#include <type_traits>

#include "stoker/kernels/correlation/detail/direct.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/kernels/correlation/correlation_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using detail::DirectTile;

#if HWY_TARGET == HWY_SCALAR

// No vectors here: the caller takes the plain loops.
std::size_t direct_bytes() { return 0; }
void direct_f32(const DirectTile<float>&) {}
void direct_f64(const DirectTile<double>&) {}
void direct_i32(const DirectTile<std::int32_t>&) {}
void direct_f32_to_i32(const DirectTile<float, std::int32_t>&) {}
void widen_row(float*, const std::uint8_t*, std::size_t) {}

#else

// With 32 registers, 16 sums fit beside the values and the weights; with 16 registers, 8.
constexpr bool kManyRegisters = HWY_TARGET == HWY_AVX3;
constexpr int kVectors = kManyRegisters ? 4 : 2;  // side by side, at most
constexpr int kRows = 4;  // below each other: each value loaded serves 4 sums

// Bytes of the columns that are computed together.
std::size_t direct_bytes() { return kVectors * hn::Lanes(hn::ScalableTag<std::uint8_t>()); }

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using V = hn::Vec<Tag<T> >;

HWY_INLINE V<float> add_product(V<float> sum, V<float> a, V<float> b) {
  return hn::MulAdd(a, b, sum);
}
HWY_INLINE V<double> add_product(V<double> sum, V<double> a, V<double> b) {
  return hn::MulAdd(a, b, sum);
}
HWY_INLINE V<std::int32_t> add_product(V<std::int32_t> sum, V<std::int32_t> a, V<std::int32_t> b) {
  return hn::Add(sum, hn::Mul(a, b));
}

// GCC would otherwise fetch a value again for each of its products, at two accesses each where it
// crosses the end of a cache line.
template <class Vector>
HWY_INLINE void keep_in_register(Vector& vector) {
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL
  asm("" : "+v"(vector.raw));
#else
  static_cast<void>(vector);
#endif
}

template <class D, class T>
HWY_INLINE void put(hn::Vec<D> value, D d, T* out, bool stream) {
  if (stream && reinterpret_cast<std::uintptr_t>(out) % sizeof(value) == 0) {
    hn::Stream(value, d, out);
  } else {
    hn::StoreU(value, d, out);
  }
}

template <class T>
HWY_INLINE void put_sum(V<T> sum, T* out, bool stream) {
  put(sum, Tag<T>(), out, stream);
}
HWY_INLINE void put_sum(V<float> sum, std::int32_t* out, bool stream) {
  const Tag<std::int32_t> d;
  put(hn::ConvertTo(d, sum), d, out, stream);
}

// The sums of a block: kOuts rows of kWide vectors, for one kernel or, for Sobel, two.
template <class T, int kOuts, int kWide, int kKernels>
struct Sums {
  V<T> at[kKernels][kOuts][kWide];
  // NEON's vectors have constructors. One that the compiler adds here itself would not be compiled
  // for the target, so it could not call theirs.
  HWY_INLINE Sums() {}  // NOLINT(modernize-use-equals-default)
};

// Adds the products of one input row's values under column j of the kernel to the sums of output
// rows kBegin … kEnd - 1; output row r meets the input row with row (row - r) of the kernel.
template <int kBegin, int kEnd, class T, int kOuts, int kWide, int kKernels>
HWY_INLINE void add_column(Sums<T, kOuts, kWide, kKernels>& sums, const T* in, const T* first,
                           const T* second, int columns) {
  const Tag<T> d;
  V<T> values[kWide];
#pragma GCC unroll 4
  for (int v = 0; v < kWide; ++v) {
    values[v] = hn::LoadU(d, in + v * hn::Lanes(d));
    keep_in_register(values[v]);
  }
#pragma GCC unroll 2
  for (int q = 0; q < kKernels; ++q) {
#pragma GCC unroll 4
    for (int r = kBegin; r < kEnd; ++r) {
      const V<T> weight = hn::Set(d, *((q == 0 ? first : second) - r * columns));
#pragma GCC unroll 4
      for (int v = 0; v < kWide; ++v) {
        sums.at[q][r][v] = add_product(sums.at[q][r][v], values[v], weight);
      }
    }
  }
}

// All columns of the kernel; kColumns is 0 where their number is known at run time only.
template <int kBegin, int kEnd, int kColumns, class T, class Out, int kOuts, int kWide,
          int kKernels>
HWY_INLINE void add_row(Sums<T, kOuts, kWide, kKernels>& sums, const DirectTile<T, Out>& tile,
                        const T* in, int row) {
  const int columns = kColumns > 0 ? kColumns : tile.kernel_columns;
  const T* first = tile.kernel + row * columns;
  const T* second = kKernels == 2 ? tile.second + row * columns : first;
  if constexpr (kColumns > 0) {
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j) {
      add_column<kBegin, kEnd>(sums, in + j, first + j, second + j, columns);
    }
  } else {
#pragma GCC unroll 1
    for (int j = 0; j < columns; ++j) {
      add_column<kBegin, kEnd>(sums, in + j, first + j, second + j, columns);
    }
  }
}

// Input row kRow of all that a kernel of kSize rows needs, for kernels known at compile time.
template <int kRow, int kSize, int kColumns, class T, class Out, int kOuts, int kWide, int kKernels>
HWY_INLINE void add_rows_from(Sums<T, kOuts, kWide, kKernels>& sums, const DirectTile<T, Out>& tile,
                              int y, std::ptrdiff_t x) {
  constexpr int kBegin = kRow < kSize ? 0 : kRow - kSize + 1;
  constexpr int kEnd = kRow + 1 < kOuts ? kRow + 1 : kOuts;
  add_row<kBegin, kEnd, kColumns>(sums, tile, tile.in[y + kRow] + x, kRow);
  if constexpr (kRow + 1 < kSize + kOuts - 1) {
    add_rows_from<kRow + 1, kSize, kColumns>(sums, tile, y, x);
  }
}

// The first and last rows meet only some output rows; a kernel has at least kOuts - 1 rows.
template <class T, class Out, int kWide, int kKernels>
HWY_INLINE void add_any_rows(Sums<T, 4, kWide, kKernels>& sums, const DirectTile<T, Out>& tile,
                             int y, std::ptrdiff_t x) {
  const int size = tile.kernel_rows;
  const T* const* in = tile.in + y;
  add_row<0, 1, 0>(sums, tile, in[0] + x, 0);
  add_row<0, 2, 0>(sums, tile, in[1] + x, 1);
  add_row<0, 3, 0>(sums, tile, in[2] + x, 2);
  for (int i = 3; i < size; ++i) add_row<0, 4, 0>(sums, tile, in[i] + x, i);
  add_row<1, 4, 0>(sums, tile, in[size] + x, size);
  add_row<2, 4, 0>(sums, tile, in[size + 1] + x, size + 1);
  add_row<3, 4, 0>(sums, tile, in[size + 2] + x, size + 2);
}

template <class T, class Out, int kWide, int kKernels>
HWY_INLINE void add_any_rows(Sums<T, 1, kWide, kKernels>& sums, const DirectTile<T, Out>& tile,
                             int y, std::ptrdiff_t x) {
  for (int i = 0; i < tile.kernel_rows; ++i) add_row<0, 1, 0>(sums, tile, tile.in[y + i] + x, i);
}

// kSize rows by kColumns of kernel, each 0 where known at run time only.
template <int kOuts, int kWide, int kKernels, int kSize, int kColumns, class T, class Out>
HWY_INLINE void block(const DirectTile<T, Out>& tile, int y, std::ptrdiff_t x) {
  Sums<T, kOuts, kWide, kKernels> sums;
  const Tag<T> d;
#pragma GCC unroll 2
  for (int q = 0; q < kKernels; ++q) {
#pragma GCC unroll 4
    for (int r = 0; r < kOuts; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kWide; ++v) sums.at[q][r][v] = hn::Zero(d);
    }
  }
  if constexpr (kSize > 0) {
    add_rows_from<0, kSize, kColumns>(sums, tile, y, x);
  } else {
    add_any_rows(sums, tile, y, x);
  }
#pragma GCC unroll 4
  for (int r = 0; r < kOuts; ++r) {
    Out* out = tile.out + (y + r) * tile.out_stride + x;
#pragma GCC unroll 4
    for (int v = 0; v < kWide; ++v) {
      V<T> result = sums.at[0][r][v];
      if constexpr (kKernels == 2) {
        // Not fused, so that whole numbers give the same bits everywhere.
        const V<T> other = sums.at[1][r][v];
        result = hn::Sqrt(hn::Add(hn::Mul(result, result), hn::Mul(other, other)));
      }
      put_sum(result, out + v * hn::Lanes(d), tile.stream);
    }
  }
}

// All columns of kOuts rows; the last block overlaps the one before. Not inlined, and with one call
// of block(): each copy of an unrolled block costs the compiler seconds.
template <int kOuts, int kWide, int kKernels, int kSize, int kColumns, class T, class Out>
HWY_NOINLINE void rows_at(const DirectTile<T, Out>& tile, int y) {
  const std::ptrdiff_t step = kWide * static_cast<std::ptrdiff_t>(hn::Lanes(Tag<T>()));
  const std::ptrdiff_t last = tile.columns - step;
  for (std::ptrdiff_t x = 0;; x = std::min(x + step, last)) {
    block<kOuts, kWide, kKernels, kSize, kColumns>(tile, y, x);
    if (x == last) return;
  }
}

template <int kWide, int kKernels, int kSize, int kColumns, class T, class Out>
HWY_INLINE void all_rows(const DirectTile<T, Out>& tile) {
  if (tile.rows < kRows) {
    for (int y = 0; y < tile.rows; ++y) rows_at<1, kWide, kKernels, 0, 0>(tile, y);
    return;
  }
  const int last = tile.rows - kRows;
  for (int y = 0;; y = std::min(y + kRows, last)) {
    rows_at<kRows, kWide, kKernels, kSize, kColumns>(tile, y);
    if (y == last) return;
  }
}

// Square kernels of 3, 5 and 7 are unrolled. For those two vectors side by side are enough: more
// would push weights out of the registers.
template <class T, class Out>
HWY_INLINE void correlate_tile(const DirectTile<T, Out>& tile) {
  if (tile.kernel_rows == 1) return all_rows<kVectors, 1, 1, 0>(tile);
  if constexpr (std::is_same_v<T, float>) {
    const int size = tile.kernel_rows == tile.kernel_columns ? tile.kernel_rows : 0;
    if (size == 3) return all_rows<2, 1, 3, 3>(tile);
    if (size == 5) return all_rows<2, 1, 5, 5>(tile);
    if (size == 7) return all_rows<2, 1, 7, 7>(tile);
  }
  all_rows<kVectors, 1, 0, 0>(tile);
}

template <class T>
HWY_INLINE void sobel_tile(const DirectTile<T>& tile) {
  constexpr int kWide = kManyRegisters ? 2 : 1;
  if (tile.kernel_rows == 1) return all_rows<kWide, 2, 1, 1>(tile);
  if constexpr (std::is_same_v<T, float>) {
    if (tile.kernel_rows == 3) return all_rows<kWide, 2, 3, 3>(tile);
    if (tile.kernel_rows == 5) return all_rows<kWide, 2, 5, 5>(tile);
  }
  all_rows<kWide, 2, 0, 0>(tile);
}

void direct_f32(const DirectTile<float>& tile) {
  tile.second != nullptr ? sobel_tile(tile) : correlate_tile(tile);
}
void direct_f64(const DirectTile<double>& tile) {
  tile.second != nullptr ? sobel_tile(tile) : correlate_tile(tile);
}
void direct_i32(const DirectTile<std::int32_t>& tile) { correlate_tile(tile); }
void direct_f32_to_i32(const DirectTile<float, std::int32_t>& tile) { correlate_tile(tile); }

void widen_row(float* out, const std::uint8_t* in, std::size_t count) {
  const Tag<float> d;
  const hn::Rebind<std::uint8_t, Tag<float> > d8;
  std::size_t x = 0;
  for (; x + hn::Lanes(d) <= count; x += hn::Lanes(d)) {
    const auto whole = hn::PromoteTo(Tag<std::int32_t>(), hn::LoadU(d8, in + x));
    hn::StoreU(hn::ConvertTo(d, whole), d, out + x);
  }
  for (; x < count; ++x) out[x] = static_cast<float>(in[x]);
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace stoker::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "stoker/kernels/simd.h"

namespace stoker::detail {
namespace {

HWY_EXPORT(direct_bytes);
HWY_EXPORT(direct_f32);
HWY_EXPORT(direct_f64);
HWY_EXPORT(direct_i32);
HWY_EXPORT(direct_f32_to_i32);
HWY_EXPORT(widen_row);

}  // namespace

bool direct_available() {
  return !use_reference_kernels() && HWY_DYNAMIC_DISPATCH(direct_bytes)() > 0;
}

int direct_block_columns(std::size_t value_bytes) {
  return static_cast<int>(HWY_DYNAMIC_DISPATCH(direct_bytes)() / value_bytes);
}

void direct(const DirectTile<float>& tile) { HWY_DYNAMIC_DISPATCH(direct_f32)(tile); }
void direct(const DirectTile<double>& tile) { HWY_DYNAMIC_DISPATCH(direct_f64)(tile); }
void direct(const DirectTile<std::int32_t>& tile) { HWY_DYNAMIC_DISPATCH(direct_i32)(tile); }
void direct(const DirectTile<float, std::int32_t>& tile) {
  HWY_DYNAMIC_DISPATCH(direct_f32_to_i32)(tile);
}

void widen(float* out, const std::uint8_t* in, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(widen_row)(out, in, count);
}

}  // namespace stoker::detail
#endif  // HWY_ONCE

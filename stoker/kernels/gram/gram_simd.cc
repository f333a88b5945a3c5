#include "stoker/kernels/gram/detail/gram_block.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/kernels/gram/gram_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using detail::GramBlock;
using detail::GramShape;
using detail::Transposition;

#if HWY_TARGET == HWY_SCALAR

// No vectors here: the caller takes the plain loops.
GramShape shape_for(std::size_t) { return {0, 0}; }
void block_f32(const GramBlock<float>&) {}
void block_f64(const GramBlock<double>&) {}
void transpose_f32(const Transposition<float>&) {}
void transpose_f64(const Transposition<double>&) {}

#else

constexpr int kWide = 3;  // vectors of a panel

// 24 sums fit beside the values in 32 registers, 12 in 16. The rows divide the panel, so that they
// never lie in two.
template <class T>
constexpr int rows_of() {
  if (HWY_TARGET == HWY_AVX3) return 8;
  return hn::MaxLanes(hn::ScalableTag<T>()) >= 4 ? 4 : 2;
}

GramShape shape_for(std::size_t value_bytes) {
  const int lanes = static_cast<int>(hn::Lanes(hn::ScalableTag<std::uint8_t>()) / value_bytes);
  return {value_bytes == sizeof(float) ? rows_of<float>() : rows_of<double>(), kWide * lanes};
}

template <class T>
HWY_INLINE void multiply(const GramBlock<T>& block) {
  using D = hn::ScalableTag<T>;
  constexpr int kRows = rows_of<T>();
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<D> sums[kRows][kWide];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 3
    for (int v = 0; v < kWide; ++v) sums[r][v] = hn::Zero(d);
  }
  const T* left = block.left;
  const T* panel = block.panel;
#pragma GCC unroll 1
  for (int k = 0; k < block.depth; ++k, left += block.left_step, panel += kWide * lanes) {
    hn::Vec<D> values[kWide];
#pragma GCC unroll 3
    for (int v = 0; v < kWide; ++v) values[v] = hn::Load(d, panel + v * lanes);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const auto weight = hn::Set(d, left[r]);
#pragma GCC unroll 3
      for (int v = 0; v < kWide; ++v) sums[r][v] = hn::MulAdd(weight, values[v], sums[r][v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    T* out = block.sums + r * block.stride;
#pragma GCC unroll 3
    for (int v = 0; v < kWide; ++v) {
      T* place = out + v * lanes;
      hn::StoreU(block.add ? hn::Add(hn::LoadU(d, place), sums[r][v]) : sums[r][v], d, place);
    }
  }
}

void block_f32(const GramBlock<float>& block) { multiply(block); }
void block_f64(const GramBlock<double>& block) { multiply(block); }

// A square of 16-byte rows.
HWY_INLINE void transpose_square(const Transposition<float>& job, int i, int j) {
  const hn::FixedTag<float, 4> d;
  const hn::RepartitionToWide<decltype(d)> d2;
  const float* in = job.in + i * job.in_stride + j;
  const auto a = hn::LoadU(d, in), b = hn::LoadU(d, in + job.in_stride);
  const auto c = hn::LoadU(d, in + 2 * job.in_stride), e = hn::LoadU(d, in + 3 * job.in_stride);
  const auto ab_low = hn::BitCast(d2, hn::InterleaveLower(d, a, b));
  const auto ab_high = hn::BitCast(d2, hn::InterleaveUpper(d, a, b));
  const auto ce_low = hn::BitCast(d2, hn::InterleaveLower(d, c, e));
  const auto ce_high = hn::BitCast(d2, hn::InterleaveUpper(d, c, e));
  float* out = job.out + j * job.out_stride + i;
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d2, ab_low, ce_low)), d, out);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d2, ab_low, ce_low)), d, out + job.out_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d2, ab_high, ce_high)), d,
             out + 2 * job.out_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d2, ab_high, ce_high)), d,
             out + 3 * job.out_stride);
}

HWY_INLINE void transpose_square(const Transposition<double>& job, int i, int j) {
  const hn::FixedTag<double, 2> d;
  const double* in = job.in + i * job.in_stride + j;
  const auto a = hn::LoadU(d, in), b = hn::LoadU(d, in + job.in_stride);
  double* out = job.out + j * job.out_stride + i;
  hn::StoreU(hn::InterleaveLower(d, a, b), d, out);
  hn::StoreU(hn::InterleaveUpper(d, a, b), d, out + job.out_stride);
}

template <class T>
HWY_INLINE void transpose_all(const Transposition<T>& job) {
  constexpr int kSide = 16 / sizeof(T);
  int i = 0;
  for (; i + kSide <= job.rows; i += kSide) {
    int j = 0;
    for (; j + kSide <= job.columns; j += kSide) transpose_square(job, i, j);
    for (; j < job.columns; ++j) {
      for (int r = 0; r < kSide; ++r) {
        job.out[j * job.out_stride + i + r] = job.in[(i + r) * job.in_stride + j];
      }
    }
  }
  for (; i < job.rows; ++i) {
    for (int j = 0; j < job.columns; ++j) {
      job.out[j * job.out_stride + i] = job.in[i * job.in_stride + j];
    }
  }
}

void transpose_f32(const Transposition<float>& job) { transpose_all(job); }
void transpose_f64(const Transposition<double>& job) { transpose_all(job); }

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace stoker::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "stoker/kernels/simd.h"

namespace stoker::detail {
namespace {
HWY_EXPORT(shape_for);
HWY_EXPORT(block_f32);
HWY_EXPORT(block_f64);
HWY_EXPORT(transpose_f32);
HWY_EXPORT(transpose_f64);
}  // namespace

GramShape gram_shape(std::size_t value_bytes) {
  if (use_reference_kernels()) return {0, 0};
  return HWY_DYNAMIC_DISPATCH(shape_for)(value_bytes);
}

void gram_block(const GramBlock<float>& block) { HWY_DYNAMIC_DISPATCH(block_f32)(block); }
void gram_block(const GramBlock<double>& block) { HWY_DYNAMIC_DISPATCH(block_f64)(block); }

void transpose(const Transposition<float>& job) { HWY_DYNAMIC_DISPATCH(transpose_f32)(job); }
void transpose(const Transposition<double>& job) { HWY_DYNAMIC_DISPATCH(transpose_f64)(job); }

}  // namespace stoker::detail
#endif  // HWY_ONCE

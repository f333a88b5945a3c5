#include "stoker/kernels/maximum/maximum.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/kernels/maximum/maximum_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

template <class T>
void larger_of(T* out, const T* a, const T* b, std::size_t count, bool) {
  for (std::size_t i = 0; i < count; ++i) out[i] = a[i] < b[i] ? b[i] : a[i];
}

#else

// `stream` sends the result around the caches, from its first aligned vector on.
template <class T>
HWY_INLINE void larger_of(T* out, const T* a, const T* b, std::size_t count, bool stream) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  if (stream) {
    const std::size_t bytes = lanes * sizeof(T);
    for (; i < count && reinterpret_cast<std::uintptr_t>(out + i) % bytes != 0; ++i) {
      out[i] = a[i] < b[i] ? b[i] : a[i];
    }
    for (; i + lanes <= count; i += lanes) {
      hn::Stream(hn::Max(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, out + i);
    }
  }
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(hn::Max(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, out + i);
  }
  for (; i < count; ++i) out[i] = a[i] < b[i] ? b[i] : a[i];
}

#endif  // HWY_TARGET == HWY_SCALAR

void maximum_u8(std::uint8_t* out, const std::uint8_t* a, const std::uint8_t* b, std::size_t count,
                bool stream) {
  larger_of(out, a, b, count, stream);
}
void maximum_i32(std::int32_t* out, const std::int32_t* a, const std::int32_t* b, std::size_t count,
                 bool stream) {
  larger_of(out, a, b, count, stream);
}
void maximum_i64(std::int64_t* out, const std::int64_t* a, const std::int64_t* b, std::size_t count,
                 bool stream) {
  larger_of(out, a, b, count, stream);
}

}  // namespace stoker::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/kernels/detail/row_bands.h"
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {

HWY_EXPORT(maximum_u8);
HWY_EXPORT(maximum_i32);
HWY_EXPORT(maximum_i64);

// Bytes that a core compares in the time that makes a thread worth its start.
constexpr double kBytesPerThread = 1e6;
// Results beyond this do not stay in the caches anyway.
constexpr std::size_t kStreamBytes = std::size_t{16} << 20;
// Planes without gaps are cut into rows of this many values.
constexpr std::size_t kRun = 1 << 14;

void run(std::uint8_t* out, const std::uint8_t* a, const std::uint8_t* b, std::size_t count,
         bool stream) {
  HWY_DYNAMIC_DISPATCH(maximum_u8)(out, a, b, count, stream);
}
void run(std::int32_t* out, const std::int32_t* a, const std::int32_t* b, std::size_t count,
         bool stream) {
  HWY_DYNAMIC_DISPATCH(maximum_i32)(out, a, b, count, stream);
}
void run(std::int64_t* out, const std::int64_t* a, const std::int64_t* b, std::size_t count,
         bool stream) {
  HWY_DYNAMIC_DISPATCH(maximum_i64)(out, a, b, count, stream);
}

template <class T>
void check(const Plane<T>& out, const Plane<const T>& a, const Plane<const T>& b) {
  const auto same = [&](const Plane<const T>& plane) {
    return plane.rows == out.rows && plane.columns == out.columns;
  };
  if (same(a) && same(b)) return;
  throw Error({.what = "cannot take the maximum",
               .expected = "three planes of the same shape",
               .found = fmt::format("{} x {}, {} x {} and {} x {}", out.rows, out.columns, a.rows,
                                    a.columns, b.rows, b.columns)});
}

template <class T>
void maximum_any(const Plane<T>& out, const Plane<const T>& a, const Plane<const T>& b,
                 const MaximumOptions& options) {
  check(out, a, b);
  if (detail::use_reference_kernels()) return maximum_reference(out, a, b);
  const std::size_t size = out.size();
  const bool stream = size * sizeof(T) > kStreamBytes;
  const int threads = detail::worthwhile_threads(
      options.threads, static_cast<double>(3 * size * sizeof(T)), kBytesPerThread);
  if (out.contiguous() && a.contiguous() && b.contiguous()) {
    const int runs = static_cast<int>((size + kRun - 1) / kRun);
    detail::for_row_bands(runs, 1, threads, [&](int begin, int end) {
      const std::size_t from = begin * kRun, to = std::min(end * kRun, size);
      run(out.data + from, a.data + from, b.data + from, to - from, stream);
    });
    return;
  }
  detail::for_row_bands(out.empty() ? 0 : out.rows, 1, threads, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) run(out.row(y), a.row(y), b.row(y), out.columns, stream);
  });
}

}  // namespace

void maximum(const Plane<std::uint8_t>& out, const Plane<const std::uint8_t>& a,
             const Plane<const std::uint8_t>& b, const MaximumOptions& options) {
  maximum_any(out, a, b, options);
}

void maximum(const Plane<std::int32_t>& out, const Plane<const std::int32_t>& a,
             const Plane<const std::int32_t>& b, const MaximumOptions& options) {
  maximum_any(out, a, b, options);
}

void maximum(const Plane<std::int64_t>& out, const Plane<const std::int64_t>& a,
             const Plane<const std::int64_t>& b, const MaximumOptions& options) {
  maximum_any(out, a, b, options);
}

}  // namespace stoker
#endif  // HWY_ONCE

// Our kernels and the machine's limits as plain functions, for bench/kernels.py to call. All
// matrices are without gaps; `threads` is what the caller wants, 0 for all.
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

#include <emmintrin.h>

#include "stoker/core/helper_threads.h"
#include "stoker/kernels/correlation/correlation.h"
#include "stoker/kernels/gram/gram.h"
#include "stoker/kernels/maximum/maximum.h"
#include "stoker/kernels/simd.h"
#include "stoker/kernels/sobel/sobel.h"

namespace {

using stoker::Plane;

template <class Out, class In, class Weight>
int correlation(Out* out, const In* image, int rows, int columns, const Weight* kernel, int size,
                int threads) {
  return static_cast<int>(
      stoker::correlate(Plane<Out>(out, rows, columns), Plane<const In>(image, rows, columns),
                        Plane<const Weight>(kernel, size, size), {.threads = threads}));
}

// Around the caches where that is what a large copy wants.
void copy_part(char* out, const char* in, std::size_t bytes, bool stream) {
  if (!stream) {
    std::memcpy(out, in, bytes);
    return;
  }
  for (std::size_t i = 0; i + 16 <= bytes; i += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i)));
  }
}

#if defined(__GNUC__)
// Ten sums at a time: a multiply-add takes four cycles and two can start in each. Named one by one,
// because the compiler keeps an array in memory.
constexpr int kSums = 10;
#define STOKER_MULTIPLY_ADDS(in)                                                                \
  asm volatile(                                                                                 \
      "vfmadd213ps %10, %10, %0\n vfmadd213ps %10, %10, %1\n vfmadd213ps %10, %10, %2\n"        \
      "vfmadd213ps %10, %10, %3\n vfmadd213ps %10, %10, %4\n vfmadd213ps %10, %10, %5\n"        \
      "vfmadd213ps %10, %10, %6\n vfmadd213ps %10, %10, %7\n vfmadd213ps %10, %10, %8\n"        \
      "vfmadd213ps %10, %10, %9\n"                                                              \
      : "+" in(a), "+" in(b), "+" in(c), "+" in(d), "+" in(e), "+" in(f), "+" in(g), "+" in(h), \
        "+" in(i), "+" in(j)                                                                    \
      : in(factor))

__attribute__((target("avx512f"))) void multiply_add_512(long steps) {
  typedef float Vector __attribute__((vector_size(64)));
  Vector a{}, b{}, c{}, d{}, e{}, f{}, g{}, h{}, i{}, j{};
  const Vector factor = Vector{} + 0.999F;
  for (long step = 0; step < steps; ++step) STOKER_MULTIPLY_ADDS("v");
}

__attribute__((target("avx2,fma"))) void multiply_add_256(long steps) {
  typedef float Vector __attribute__((vector_size(32)));
  Vector a{}, b{}, c{}, d{}, e{}, f{}, g{}, h{}, i{}, j{};
  const Vector factor = Vector{} + 0.999F;
  for (long step = 0; step < steps; ++step) STOKER_MULTIPLY_ADDS("x");
}
#endif

void in_threads(int threads, const std::function<void(int)>& work) {
  stoker::HelperThreads::of_process().run(threads, threads - 1, work);
}

}  // namespace

extern "C" {

int stoker_correlate_f32(float* out, const float* image, int rows, int columns, const float* kernel,
                         int size, int threads) {
  return correlation(out, image, rows, columns, kernel, size, threads);
}
int stoker_correlate_u8_f32(float* out, const std::uint8_t* image, int rows, int columns,
                            const float* kernel, int size, int threads) {
  return correlation(out, image, rows, columns, kernel, size, threads);
}
int stoker_correlate_u8_i32(std::int32_t* out, const std::uint8_t* image, int rows, int columns,
                            const std::int32_t* kernel, int size, int threads) {
  return correlation(out, image, rows, columns, kernel, size, threads);
}
int stoker_correlate_u8(std::uint8_t* out, const std::uint8_t* image, int rows, int columns,
                        const std::int32_t* kernel, int size, int threads) {
  return correlation(out, image, rows, columns, kernel, size, threads);
}

void stoker_sobel_f32(float* out, const float* image, int rows, int columns, const float* filter,
                      int size, int threads) {
  stoker::sobel(Plane<float>(out, rows, columns), Plane<const float>(image, rows, columns),
                Plane<const float>(filter, size, size), {.threads = threads});
}
void stoker_sobel_u8(float* out, const std::uint8_t* image, int rows, int columns,
                     const float* filter, int size, int threads) {
  stoker::sobel(Plane<float>(out, rows, columns), Plane<const std::uint8_t>(image, rows, columns),
                Plane<const float>(filter, size, size), {.threads = threads});
}

void stoker_maximum_i32(std::int32_t* out, const std::int32_t* a, const std::int32_t* b, int rows,
                        int columns, int threads) {
  stoker::maximum(Plane<std::int32_t>(out, rows, columns),
                  Plane<const std::int32_t>(a, rows, columns),
                  Plane<const std::int32_t>(b, rows, columns), {.threads = threads});
}

// method: 2 our own, 3 OpenBLAS, where it is there.
int stoker_gram_f32(float* out, const float* x, int rows, int columns, int threads, int method) {
  static const bool looked = [] {
    stoker::use_gram_blas(stoker::loaded_gram_blas());
    return true;
  }();
  static_cast<void>(looked);
  return static_cast<int>(
      stoker::gram(Plane<float>(out, rows, rows), Plane<const float>(x, rows, columns),
                   {.threads = threads, .method = static_cast<stoker::GramMethod>(method)}));
}

const char* stoker_simd() {
  static const std::string name = stoker::active_simd();
  return name.c_str();
}

// `out` is aligned to 16 bytes where it streams.
void limit_copy(char* out, const char* in, std::size_t bytes, int threads, int stream) {
  const std::size_t part = bytes / threads / 64 * 64;
  in_threads(threads, [&](int i) {
    const std::size_t from = i * part, to = i + 1 == threads ? bytes : from + part;
    copy_part(out + from, in + from, to - from, stream != 0);
  });
}

// Multiply-adds in registers alone; returns how many floating-point operations it did.
double limit_flops(long steps, int threads) {
#if defined(__GNUC__)
  const bool wide = __builtin_cpu_supports("avx512f") != 0;
  in_threads(threads, [&](int) { wide ? multiply_add_512(steps) : multiply_add_256(steps); });
  return 2.0 * static_cast<double>(steps) * threads * kSums * (wide ? 16 : 8);
#else
  return 0;
#endif
}

}  // extern "C"

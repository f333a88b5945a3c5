#include <algorithm>

#include <dlfcn.h>

#include "stoker/kernels/gram/gram.h"

namespace stoker {
namespace {

template <class T>
using Syrk = void (*)(const char* half, const char* transposed, const int* n, const int* k,
                      const T* alpha, const T* a, const int* lda, const T* beta, T* c,
                      const int* ldc);
template <class T>
using Gemm = void (*)(const char* transposed_a, const char* transposed_b, const int* m,
                      const int* n, const int* k, const T* alpha, const T* a, const int* lda,
                      const T* b, const int* ldb, const T* beta, T* c, const int* ldc);

template <class Function>
Function loaded(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

template <class T>
Syrk<T> syrk() {
  static const auto function = loaded<Syrk<T>>(sizeof(T) == 4 ? "ssyrk_" : "dsyrk_");
  return function;
}
template <class T>
Gemm<T> gemm() {
  static const auto function = loaded<Gemm<T>>(sizeof(T) == 4 ? "sgemm_" : "dgemm_");
  return function;
}

// A BLAS stores columns: our rows are its columns, X is its Xᵀ, and our lower half its upper one.
template <class T>
void by_syrk(const Plane<T>& out, const Plane<const T>& x) {
  const T one = 1, zero = 0;
  const int n = x.rows, k = x.columns;
  const int lda = std::max(1, static_cast<int>(x.stride)), ldc = static_cast<int>(out.stride);
  syrk<T>()("U", "T", &n, &k, &one, x.data, &lda, &zero, out.data, &ldc);
}

// Rows in blocks, each multiplied with all rows up to its last: (1 + 1 / blocks) / 2 of the work.
template <class T>
void by_gemm(const Plane<T>& out, const Plane<const T>& x) {
  constexpr int kBlocks = 8, kLeastRows = 64;
  const T one = 1, zero = 0;
  const int k = x.columns, step = std::max(kLeastRows, (x.rows + kBlocks - 1) / kBlocks);
  const int lda = std::max(1, static_cast<int>(x.stride)), ldc = static_cast<int>(out.stride);
  for (int top = 0; top < x.rows; top += step) {
    const int rows = std::min(step, x.rows - top), columns = top + rows;
    gemm<T>()("T", "N", &columns, &rows, &k, &one, x.data, &lda, x.row(top), &lda, &zero,
              out.row(top), &ldc);
  }
}

template <class T>
auto best() -> void (*)(const Plane<T>&, const Plane<const T>&) {
  if (syrk<T>() != nullptr) return by_syrk<T>;
  return gemm<T>() != nullptr ? by_gemm<T> : nullptr;
}

}  // namespace

GramBlas loaded_gram_blas() { return {.f32 = best<float>(), .f64 = best<double>()}; }

}  // namespace stoker

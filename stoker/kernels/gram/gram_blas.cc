#include <algorithm>
#include <mutex>

#include <dlfcn.h>

#include "stoker/kernels/gram/gram.h"

namespace stoker {
namespace {

template <class T>
using Syrk = void (*)(const char* half, const char* transposed, const int* n, const int* k,
                      const T* alpha, const T* a, const int* lda, const T* beta, T* c,
                      const int* ldc);

template <class Function>
Function function_of(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

// OpenBLAS alone: the reference BLAS of a system is slower than our own loops, and LibTorch's
// library does not export syrk.
struct OpenBlas {
  OpenBlas() {
    constexpr auto kMark = "openblas_set_num_threads";
    void* library = RTLD_DEFAULT;  // a null pointer
    if (dlsym(library, kMark) == nullptr) {
      library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) return;
    }
    set_threads = function_of<void (*)(int)>(library, kMark);
    get_threads = function_of<int (*)()>(library, "openblas_get_num_threads");
    if (set_threads == nullptr || get_threads == nullptr) return;
    f32 = function_of<Syrk<float>>(library, "ssyrk_");
    f64 = function_of<Syrk<double>>(library, "dsyrk_");
  }

  Syrk<float> f32 = nullptr;
  Syrk<double> f64 = nullptr;
  void (*set_threads)(int) = nullptr;
  int (*get_threads)() = nullptr;
};

const OpenBlas& open_blas() {
  static const OpenBlas blas;
  return blas;
}

template <class T>
Syrk<T> syrk() {
  if constexpr (sizeof(T) == sizeof(float)) {
    return open_blas().f32;
  } else {
    return open_blas().f64;
  }
}

// With this many threads. The number belongs to the process, so calls take turns, and whoever else
// uses the library finds it as it was.
template <class Call>
void with_threads(int threads, const Call& call) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const int before = open_blas().get_threads();
  open_blas().set_threads(threads);
  call();
  open_blas().set_threads(before);
}

// A BLAS stores columns: our rows are its columns, X is its Xᵀ, and our lower half its upper one.
template <class T>
void by_syrk(const Plane<T>& out, const Plane<const T>& x, int threads) {
  const T one = 1, zero = 0;
  const int n = x.rows, k = x.columns;
  const int lda = std::max(1, static_cast<int>(x.stride)), ldc = static_cast<int>(out.stride);
  with_threads(threads,
               [&] { syrk<T>()("U", "T", &n, &k, &one, x.data, &lda, &zero, out.data, &ldc); });
}

}  // namespace

GramBlas loaded_gram_blas() {
  GramBlas blas;
  if (syrk<float>() != nullptr) blas.f32 = by_syrk<float>;
  if (syrk<double>() != nullptr) blas.f64 = by_syrk<double>;
  return blas;
}

}  // namespace stoker

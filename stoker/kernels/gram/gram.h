// The Gram matrix X·Xᵀ: out[i][j] = sum over k of x[i][k] * x[j][k], out square with x's rows.
// The result is symmetric to the last bit; only its lower half is computed, the rest is copied.
// Sums run over k in order, in runs that are added up; instruction sets differ by rounding (fused
// multiply-adds), the number of threads changes nothing.
//
// A BLAS can be put in place with use_gram_blas(); this module links none. Its sums have an order
// of their own. Functions without state but that, safe from any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "stoker/kernels/plane.h"

namespace stoker {

enum class GramMethod : std::uint8_t { kAuto, kReference, kBlocked, kBlas };
[[nodiscard]] std::string_view method_name(GramMethod method);

struct GramOptions {
  int threads = 0;  // 0: as many as the process may use
  // kAuto: the BLAS where there is one, else our own. Another one is an Error where it is missing.
  // The variable STOKER_GRAM (a method's name) replaces kAuto.
  GramMethod method = GramMethod::kAuto;
};

// Return the method that ran. Throw Error unless out is square with x's rows. `out` does not
// overlap x.
GramMethod gram(const Plane<float>& out, const Plane<const float>& x,
                const GramOptions& options = {});
GramMethod gram(const Plane<double>& out, const Plane<const double>& x,
                const GramOptions& options = {});

// Three nested loops, one thread.
void gram_reference(const Plane<float>& out, const Plane<const float>& x);
void gram_reference(const Plane<double>& out, const Plane<const double>& x);

// Write the lower half of out, diagonal included.
struct GramBlas {
  void (*f32)(const Plane<float>& out, const Plane<const float>& x, int threads) = nullptr;
  void (*f64)(const Plane<double>& out, const Plane<const double>& x, int threads) = nullptr;
};
// Not for use while gram() runs; an empty one takes it away.
void use_gram_blas(const GramBlas& blas);

// OpenBLAS: the one that the process has loaded (Fortran's calling convention, 32-bit sizes), else
// libopenblas.so.0 where the system has it. Both are null where there is none.
[[nodiscard]] GramBlas loaded_gram_blas();

}  // namespace stoker

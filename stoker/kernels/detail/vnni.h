// For files whose functions use AVX-512 with VNNI where the machine has it: STOKER_HAS_VNNI, the
// intrinsics, and what such functions carry.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
#define STOKER_HAS_VNNI 1

#if !defined(__clang__) && __GNUC__ < 13
// GCC 12 takes the undefined vectors of its own header for uninitialised ones (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

// Functions carry the instruction set themselves. Compiling the file for it would let inline
// functions of the standard library, compiled for this CPU, be used by the whole program.
#define STOKER_VNNI \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni")))
#define STOKER_VNNI_INLINE STOKER_VNNI __attribute__((always_inline)) inline
#endif

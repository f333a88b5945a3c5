// What a kernel body of this module is written in: the same source is compiled by nvcc for GPUs and
// by the host's compiler for the simulator. Only kernel headers and .cu files include this.
//
//   STOKER_KERNEL(threads)            before a kernel's return type: at most this many threads a
//   block Input<T>, Output<T>               pointers among a kernel's arguments; never the same
//   memory STOKER_SHARED(T, name, count)     an array of the block, one dimension
//   STOKER_BARRIER(name)              __syncthreads(); the name is for tests that omit it
//   STOKER_CONSTANT                   before an argument by value: stays in constant memory
//   load_pack, store_pack             several neighbouring values in one access
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#ifdef __CUDACC__
#define STOKER_KERNEL(threads) __global__ __launch_bounds__(threads)
#define STOKER_DEVICE __device__ __forceinline__
#define STOKER_CONSTANT const __grid_constant__
#define STOKER_UNROLL _Pragma("unroll")
#define STOKER_TEXT(text) #text
// Unrolled `times` times, a constant of the template; 1 leaves the loop as it is.
#define STOKER_UNROLL_BY(times) _Pragma(STOKER_TEXT(unroll(times)))
#define STOKER_SHARED(T, name, count) __shared__ alignas(16) T name[count]
#ifndef STOKER_OMIT_BARRIER
#define STOKER_OMIT_BARRIER ""
#endif
#define STOKER_BARRIER(name)                                                               \
  do {                                                                                     \
    if constexpr (!::stoker::cuda::same_text(#name, STOKER_OMIT_BARRIER)) __syncthreads(); \
  } while (false)
#else
#include "stoker/cuda/simulator.h"
#define STOKER_KERNEL(threads) inline
#define STOKER_DEVICE inline
#define STOKER_CONSTANT const
#define STOKER_UNROLL
#define STOKER_UNROLL_BY(times)
#define STOKER_SHARED(T, name, count) const ::stoker::cuda::SharedArray<T> name(#name, count)
#define STOKER_BARRIER(name) ::stoker::cuda::simulator::barrier(#name)
#endif

namespace stoker::cuda {

// N neighbouring values, moved in accesses of up to 16 bytes.
template <class T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Pack {
  T values[N];
};

// sum + a * b. Whole numbers wrap around, as the contracts say.
template <class T>
STOKER_DEVICE T plus_product(T sum, T a, T b) {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    const std::uint32_t product = static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b);
    return static_cast<T>(static_cast<std::uint32_t>(sum) + product);
  } else {
    return sum + a * b;
  }
}

// As many values as one access of 16 bytes moves.
template <class T>
inline constexpr int kPackOf = 16 / static_cast<int>(sizeof(T));

// The same names mean different types for nvcc and for the simulator, so both can be linked into
// one program only with different names.
#ifdef __CUDACC__
inline namespace on_device {

__host__ __device__ constexpr bool same_text(const char* a, const char* b) {
  for (; *a == *b; ++a, ++b) {
    if (*a == 0) return true;
  }
  return false;
}

template <class T>
using Input = const T* __restrict__;
template <class T>
using Output = T* __restrict__;
template <class T>
using Shared = T*;

inline bool is_aligned(const void* pointer, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

template <int N, class T>
STOKER_DEVICE Pack<T, N> load_pack(const T* array, std::int64_t index) {
  return *reinterpret_cast<const Pack<T, N>*>(array + index);
}
template <int N, class T>
STOKER_DEVICE void store_pack(T* array, std::int64_t index, const Pack<T, N>& pack) {
  *reinterpret_cast<Pack<T, N>*>(array + index) = pack;
}

}  // namespace on_device
#else
inline namespace simulated {

template <class T>
using Input = Global<const T>;
template <class T>
using Output = Global<T>;
template <class T>
using Shared = const SharedArray<T>&;

template <class T>
bool is_aligned(const Global<T>& pointer, std::size_t bytes) {
  return pointer.aligned(bytes);
}

template <int N, class Array>
Pack<typename Array::Value, N> load_pack(const Array& array, std::int64_t index) {
  Pack<typename Array::Value, N> pack;
  array.check_alignment(index, alignof(decltype(pack)));
  for (int i = 0; i < N; ++i) pack.values[i] = array.load(index + i);
  return pack;
}
template <int N, class Array>
void store_pack(const Array& array, std::int64_t index,
                const Pack<typename Array::Value, N>& pack) {
  array.check_alignment(index, alignof(Pack<typename Array::Value, N>));
  for (int i = 0; i < N; ++i) array.store(index + i, pack.values[i]);
}

}  // namespace simulated
#endif

}  // namespace stoker::cuda

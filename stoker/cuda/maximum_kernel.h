// The larger of two values, for every pair. Contract: stoker/kernels/maximum/maximum.h, for arrays
// without gaps. Any grid is right for any count; both kernels go on in steps of the whole grid.
#pragma once

#include "stoker/cuda/device.h"

namespace stoker::cuda {

// Both are read before they are compared: otherwise the larger is loaded a second time.
template <class T>
STOKER_DEVICE T larger(T a, T b) {
  return a > b ? a : b;
}

// One value a thread and step: for 1000×1000 values, 1000 blocks of 1000 threads.
template <class T>
STOKER_KERNEL(1024)
void maximum_kernel(Output<T> out, Input<T> a, Input<T> b, std::int64_t count) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const T left = a[i], right = b[i];
    out[i] = larger(left, right);
  }
}

// 16 bytes a thread and step; all three arrays begin at a multiple of 16 bytes.
template <class T>
STOKER_KERNEL(256)
void maximum_packed_kernel(Output<T> out, Input<T> a, Input<T> b, std::int64_t count) {
  constexpr int kValues = kPackOf<T>;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t packs = count / kValues;
  for (std::int64_t i = first; i < packs; i += step) {
    auto left = load_pack<kValues>(a, i * kValues);
    const auto right = load_pack<kValues>(b, i * kValues);
    STOKER_UNROLL
    for (int v = 0; v < kValues; ++v) left.values[v] = larger(left.values[v], right.values[v]);
    store_pack<kValues>(out, i * kValues, left);
  }
  // Fewer than one pack is left.
  for (std::int64_t i = packs * kValues + first; i < count; i += step) {
    const T left = a[i], right = b[i];
    out[i] = larger(left, right);
  }
}

}  // namespace stoker::cuda

// Starts the kernels of this module on a GPU. Contracts: stoker/kernels/<name>/<name>.h; planes are
// in the GPU's memory. The calls return when the kernel is queued on `stream` (null: the default
// one) of the current device; the memory must live until it has run. Safe from any thread. Throw
// Error for shapes that the contract excludes, and where CUDA refuses the launch.
//
// Only in builds with STOKER_CUDA; needs no header of CUDA. Floats are summed in the reference's
// order with fused multiply-adds; whole numbers within the contracts' limits are exact.
#pragma once

#include <cstdint>

#include "stoker/cuda/variant.h"
#include "stoker/kernels/plane.h"

struct CUstream_st;

namespace stoker::cuda {

using Stream = CUstream_st*;  // cudaStream_t

// u8, i32, i64. Planes without gaps between rows.
template <class T>
void launch_maximum(const Plane<T>& out, const Plane<const T>& a, const Plane<const T>& b,
                    Variant variant, Stream stream);

// f32, f64. kPlain is one block of 1024 threads, for every shape.
template <class T>
void launch_gram(const Plane<T>& out, const Plane<const T>& x, Variant variant, Stream stream);

// (f32, f32), (f64, f64), (i32, i32), (u8, f32), (u8, i32). The kernel is in the GPU's memory,
// without gaps; any odd size.
template <class In, class T>
void launch_correlation(const Plane<T>& out, const Plane<const In>& image,
                        const Plane<const T>& kernel, Variant variant, Stream stream);
// The kernel is in the host's memory, no side above 31, and may go when the call returns: it
// travels with the launch into constant memory. The fastest where the host knows the kernel.
template <class In, class T>
void launch_constant_correlation(const Plane<T>& out, const Plane<const In>& image,
                                 const Plane<const T>& kernel, Stream stream);

// (f32, f32), (f64, f64), (u8, f32). The filter is in the GPU's memory; one thread a pixel.
template <class In, class T>
void launch_sobel(const Plane<T>& out, const Plane<const In>& image, const Plane<const T>& filter,
                  Stream stream);
// The filter is in the host's memory, no side above 7: tiles, both gradients from one.
template <class In, class T>
void launch_constant_sobel(const Plane<T>& out, const Plane<const In>& image,
                           const Plane<const T>& filter, Stream stream);

}  // namespace stoker::cuda

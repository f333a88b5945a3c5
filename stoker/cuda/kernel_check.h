// The CUDA kernels on a real GPU, held against their references, with time tables (R14, R15, R18).
// The code lies beside that of gpu.h in libstoker_gpu.so, which needs CUDA's runtime and is loaded
// only when it is asked for: the program itself starts without.
#pragma once

#include "stoker/kernels/kernel_check.h"

namespace stoker::cuda {

inline constexpr const char* kKernelCheckEntry = "stoker_check_cuda_kernels";
inline constexpr const char* kKernelCheckLibrary = "libstoker_gpu.so";
// What the library has under that name. Throws nothing: what went wrong stands in the result.
using CheckCudaKernels = void(int device_index, KernelCheck& result);

// Loads the library, which lies beside the program, and runs it on this device.
[[nodiscard]] KernelCheck check_cuda_kernels(int device_index);

}  // namespace stoker::cuda

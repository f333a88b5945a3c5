#include <dlfcn.h>
#include <fmt/format.h>

#include "stoker/core/own_library.h"
#include "stoker/cuda/kernel_check.h"

namespace stoker::cuda {

KernelCheck check_cuda_kernels(int device_index) {
  KernelCheck result;
  // Never closed: CUDA's runtime keeps threads and handlers in it.
  void* library = open_own_library(kKernelCheckLibrary, RTLD_NOW | RTLD_LOCAL);
  void* entry = library == nullptr ? nullptr : ::dlsym(library, kKernelCheckEntry);
  if (entry == nullptr) {
    const char* why = ::dlerror();
    result.problem = fmt::format("this build has no CUDA kernels ({})",
                                 why == nullptr ? kKernelCheckLibrary : why);
    return result;
  }
  reinterpret_cast<CheckCudaKernels*>(entry)(device_index, result);
  return result;
}

}  // namespace stoker::cuda

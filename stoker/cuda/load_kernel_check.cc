#include <filesystem>

#include <dlfcn.h>
#include <fmt/format.h>

#include "stoker/cuda/kernel_check.h"

namespace stoker::cuda {

KernelCheck check_cuda_kernels(int device_index) {
  KernelCheck result;
  std::error_code ignored;
  const auto beside = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  // Never closed: CUDA's runtime keeps threads and handlers in it.
  void* library = ::dlopen((beside / kKernelCheckLibrary).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) library = ::dlopen(kKernelCheckLibrary, RTLD_NOW | RTLD_LOCAL);
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

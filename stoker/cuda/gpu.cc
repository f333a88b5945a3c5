#include "stoker/cuda/gpu.h"

#include <cstdlib>
#include <string>

#include <dlfcn.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/own_library.h"

namespace stoker::cuda {
namespace {

constexpr const char* kLibrary = "libstoker_gpu.so";

std::string last_error() {
  const char* why = ::dlerror();
  return why == nullptr ? "unknown reason" : why;
}

FoundGpu look_for_gpu() {
  if (const char* path = std::getenv("STOKER_GPU_LIBRARY"); path != nullptr && *path != '\0') {
    return open_gpu_library(path);
  }
  // Without a driver the runtime would only say so less clearly.
  if (::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) == nullptr) {
    return {.gpu = nullptr, .reason = "no NVIDIA driver (libcuda.so.1)"};
  }
  FoundGpu found;
  for (const std::string& path : own_library_paths(kLibrary)) {
    found = open_gpu_library(path);
    if (found.gpu != nullptr) return found;
  }
  return found;
}

}  // namespace

FoundGpu open_gpu_library(const std::string& path) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return {.gpu = nullptr,
            .reason = fmt::format("the CUDA kernels cannot be loaded ({})", last_error())};
  }
  const auto open = reinterpret_cast<OpenGpu>(::dlsym(library, kOpenGpuName));
  if (open == nullptr) {
    return {.gpu = nullptr, .reason = fmt::format("{} holds no CUDA kernels", path)};
  }
  FoundGpu found;
  found.gpu = open(kGpuInterfaceVersion, &found.reason);
  return found;
}

const FoundGpu& find_gpu() {
  static const FoundGpu found = look_for_gpu();
  return found;
}

FoundGpu choose_gpu(std::string_view wanted, const FoundGpu& found) {
  if (wanted == "cpu") return {.gpu = nullptr, .reason = "as asked"};
  if (wanted == "auto") return found;
  if (wanted == "cuda" && found.gpu != nullptr) return found;
  throw Error({.what = fmt::format("cannot compute on the device \"{}\"", wanted),
               .expected = wanted == "cuda" ? "a CUDA device" : "auto, cpu or cuda",
               .found = wanted == "cuda" ? found.reason : fmt::format("\"{}\"", wanted),
               .hint = "Use `device` auto or `device` cpu"});
}

FoundGpu choose_gpu(std::string_view wanted) {
  // Who asks for the CPU need not wait for CUDA.
  return choose_gpu(wanted, wanted == "cpu" ? FoundGpu{} : find_gpu());
}

}  // namespace stoker::cuda

#include "stoker/train/device.h"

#include <charconv>

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

[[noreturn]] void fail(const std::string& wanted, std::string found, std::string hint) {
  throw Error({.what = fmt::format("cannot compute on the device \"{}\"", wanted),
               .expected = "auto, cpu, cuda or cuda:INDEX",
               .found = std::move(found),
               .hint = std::move(hint)});
}

// The index of "cuda" or "cuda:INDEX"; -1 where the text is neither.
int cuda_index(const std::string& text) {
  if (text == "cuda") return 0;
  constexpr std::string_view kPrefix = "cuda:";
  if (!text.starts_with(kPrefix)) return -1;
  int index = -1;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + kPrefix.size(), end, index);
  return parsed.ec == std::errc{} && parsed.ptr == end && index >= 0 ? index : -1;
}

c10::Device cuda_device(int index) {
  return {c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(index)};
}

}  // namespace

CudaProbe probe_cuda() {
  // Without a driver the libraries would be loaded in vain: they take seconds and a gigabyte.
  if (::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    return {.devices = 0, .reason = "no NVIDIA driver (libcuda.so.1)"};
  }
  if (::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    const char* why = ::dlerror();
    return {.devices = 0,
            .reason = fmt::format("LibTorch's CUDA half cannot be loaded ({})",
                                  why == nullptr ? "unknown reason" : why)};
  }
  // NOLINTNEXTLINE(bugprone-signed-char-misuse): c10 counts devices in 8 bits
  const int devices = static_cast<int>(at::detail::getCUDAHooks().deviceCount());
  return {.devices = devices,
          .reason = devices == 0 ? "the NVIDIA driver knows no device"
                                 : fmt::format("{} CUDA devices", devices)};
}

ChosenDevice choose_device(const std::string& wanted, const CudaProbe& cuda) {
  if (wanted == "cpu") return {.device = c10::DeviceType::CPU, .reason = "as asked"};
  if (wanted == "auto") {
    if (cuda.devices > 0) return {.device = cuda_device(0), .reason = cuda.reason};
    return {.device = c10::DeviceType::CPU, .reason = cuda.reason};
  }
  const int index = cuda_index(wanted);
  if (index < 0) fail(wanted, fmt::format("\"{}\"", wanted), "");
  if (index >= cuda.devices) {
    fail(wanted, cuda.devices == 0 ? cuda.reason : fmt::format("only {}", cuda.reason),
         "Use `device` auto or `device` cpu");
  }
  return {.device = cuda_device(index), .reason = "as asked"};
}

ChosenDevice choose_device(const std::string& wanted) {
  // Who asks for the CPU need not wait for CUDA.
  return choose_device(wanted, wanted == "cpu" ? CudaProbe{} : probe_cuda());
}

}  // namespace stoker

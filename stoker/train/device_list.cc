#include "stoker/train/device_list.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <sstream>

#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include "stoker/core/cpu_budget.h"
#include "stoker/kernels/simd.h"
#include "stoker/train/device.h"

namespace stoker {
namespace {

// The value of the first line "key : value".
std::string proc_value(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find(':');
    const std::size_t begin =
        colon == std::string::npos ? colon : line.find_first_not_of(" \t", colon + 1);
    if (begin != std::string::npos) return line.substr(begin);
  }
  return "";
}

// /proc/cpuinfo knows hundreds of flags; these decide which code runs.
std::vector<std::string> instruction_sets() {
  constexpr std::array kShown = {"sse4_1",      "avx2",        "fma",      "avx512f", "avx512bw",
                                 "avx512_vnni", "avx512_bf16", "amx_bf16", "amx_int8"};
  std::istringstream flags(proc_value("/proc/cpuinfo", "flags"));
  const std::vector<std::string> all(std::istream_iterator<std::string>(flags), {});
  std::vector<std::string> found;
  for (const char* name : kShown) {
    if (std::ranges::find(all, name) != all.end()) found.emplace_back(name);
  }
  return found;
}

std::uint64_t memory_bytes(const char* key) {
  std::uint64_t kilobytes = 0;
  std::istringstream(proc_value("/proc/meminfo", key)) >> kilobytes;
  return kilobytes * 1024;
}

// The functions of CUDA's driver that are needed to describe devices, by the names and signatures
// of its stable ABI; so no header of CUDA is needed.
class Driver {
 public:
  explicit Driver(void* library) : library_(library) {}

  [[nodiscard]] bool complete() const {
    return init_ && version_ && count_ && device_ && name_ && memory_ && attribute_;
  }
  [[nodiscard]] int init() const { return init_(0); }
  [[nodiscard]] int version() const {
    int version = 0;
    return version_(&version) == 0 ? version : 0;
  }
  [[nodiscard]] int count() const {
    int count = 0;
    return count_(&count) == 0 ? count : 0;
  }
  [[nodiscard]] AcceleratorFacts describe(int index) const {
    AcceleratorFacts facts{.index = index, .name = "unknown", .capability = "unknown"};
    int device = 0, major = 0, minor = 0;
    std::array<char, 256> name{};
    std::size_t bytes = 0;
    if (device_(&device, index) != 0) return facts;
    if (name_(name.data(), static_cast<int>(name.size()) - 1, device) == 0) {
      facts.name = name.data();
    }
    if (memory_(&bytes, device) == 0) facts.memory_bytes = bytes;
    constexpr int kMajor = 75, kMinor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, …MINOR
    if (attribute_(&major, kMajor, device) == 0 && attribute_(&minor, kMinor, device) == 0) {
      facts.capability = fmt::format("{}.{}", major, minor);
    }
    return facts;
  }

 private:
  template <typename Function>
  [[nodiscard]] Function* find(const char* name) const {
    return reinterpret_cast<Function*>(::dlsym(library_, name));
  }

  void* library_;
  int (*init_)(unsigned) = find<int(unsigned)>("cuInit");
  int (*version_)(int*) = find<int(int*)>("cuDriverGetVersion");
  int (*count_)(int*) = find<int(int*)>("cuDeviceGetCount");
  int (*device_)(int*, int) = find<int(int*, int)>("cuDeviceGet");
  int (*name_)(char*, int, int) = find<int(char*, int, int)>("cuDeviceGetName");
  int (*memory_)(std::size_t*, int) = find<int(std::size_t*, int)>("cuDeviceTotalMem_v2");
  int (*attribute_)(int*, int, int) = find<int(int*, int, int)>("cuDeviceGetAttribute");
};

}  // namespace

std::string cuda_version_text(long version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

CpuFacts cpu_facts() {
  const CpuBudget budget = cpu_budget();
  const std::string name = proc_value("/proc/cpuinfo", "model name");
  return {.name = name.empty() ? "unknown" : name,
          .cpus = budget.cpus,
          .cpus_reason = budget.reason,
          .instruction_sets = instruction_sets(),
          .kernels = active_simd(),
          .memory_bytes = memory_bytes("MemTotal"),
          .free_bytes = memory_bytes("MemAvailable")};
}

CudaFacts driver_facts(const std::string& library) {
  CudaFacts facts;
  // It stays loaded: LibTorch uses the same one, and drivers do not like to be unloaded.
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) {
    facts.reason = fmt::format("no NVIDIA driver ({} cannot be loaded)", library);
    return facts;
  }
  const Driver driver(handle);
  if (!driver.complete()) {
    facts.reason = fmt::format("{} lacks functions of CUDA's driver", library);
    return facts;
  }
  facts.driver = cuda_version_text(driver.version());
  if (const int error = driver.init(); error != 0) {
    // 100: no device; 803: driver and library of different versions. The number helps to search.
    facts.reason = fmt::format("the NVIDIA driver cannot be used (cuInit: error {})", error);
    return facts;
  }
  for (int i = 0; i < driver.count(); ++i) facts.devices.push_back(driver.describe(i));
  facts.reason = facts.devices.empty() ? "the NVIDIA driver knows no device"
                                       : fmt::format("{} CUDA devices", facts.devices.size());
  return facts;
}

CudaFacts cuda_facts() {
  CudaFacts facts = driver_facts();
  if (facts.devices.empty()) return facts;
  const CudaProbe probe = probe_cuda();
  if (probe.devices == 0) {
    // The driver has some; LibTorch cannot use them, which is what counts.
    facts.devices.clear();
    facts.reason = probe.reason;
    return facts;
  }
  const at::CUDAHooksInterface& hooks = at::detail::getCUDAHooks();
  facts.runtime = cuda_version_text(hooks.versionCUDART());
  if (hooks.hasCuDNN()) facts.cudnn = fmt::format("{}", hooks.versionCuDNN());
  return facts;
}

}  // namespace stoker

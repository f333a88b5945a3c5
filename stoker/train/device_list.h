// What this machine can compute on: its CPU as the job may use it, and its accelerators with their
// names, memory and versions. Plain values and functions, safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stoker {

struct CpuFacts {
  std::string name = {};                           // "AMD EPYC 7B13"
  int cpus = 1;                                    // that the job may use
  std::string cpus_reason = {};                    // why this number
  std::vector<std::string> instruction_sets = {};  // that our kernels or LibTorch's make use of
  std::string kernels = {};                        // the version of our kernels that runs
  std::uint64_t memory_bytes = 0;                  // of the machine
  std::uint64_t free_bytes = 0;                    // that could be had now; 0: unknown
};
[[nodiscard]] CpuFacts cpu_facts();

struct AcceleratorFacts {
  int index = 0;  // of "cuda:INDEX"
  std::string name = {};
  std::uint64_t memory_bytes = 0;
  std::string capability = {};  // "7.5"
};

struct CudaFacts {
  std::vector<AcceleratorFacts> devices = {};
  std::string driver = {};   // the newest CUDA that the driver supports: "13.0"; empty: no driver
  std::string runtime = {};  // CUDA of LibTorch; empty where it is not loaded
  std::string cudnn = {};    // likewise
  std::string reason = {};   // why there are no devices, or how many there are
};
// Asks the driver, then LibTorch's CUDA half. The first call may take a second where there is a
// driver.
[[nodiscard]] CudaFacts cuda_facts();

// What the driver alone says, from this library; for tests, which have one of their own.
[[nodiscard]] CudaFacts driver_facts(const std::string& library = "libcuda.so.1");

// "13.0" for 13000, as CUDA counts.
[[nodiscard]] std::string cuda_version_text(long version);

}  // namespace stoker

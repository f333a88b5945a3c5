// How the CPUs of a job are shared between the workers that feed and LibTorch's threads that
// compute.
//
// LibTorch's number follows from the job and the model alone, never from the number of workers or
// from a measurement: sums of matrix products depend on it in their last bits, and a run must not
// depend on how many workers fed it.
#pragma once

#include <cstdint>
#include <string>

#include <c10/core/Device.h>

#include "stoker/core/cpu_budget.h"

namespace stoker {

struct ThreadRequest {
  int workers = 0;                 // 0: choose
  int compute = 0;                 // 0: choose
  std::int64_t multiply_adds = 0;  // of a batch, forward
  c10::Device device = c10::DeviceType::CPU;
};

struct ThreadSplit {
  int workers = 1;
  int compute = 1;
  std::string reason;  // "2 workers, 1 thread for LibTorch: …"
};

// The least work of a batch for which a further thread pays. Measured: see docs/benchmarks.md.
inline constexpr std::int64_t kMultiplyAddsPerThread = 30'000'000;

[[nodiscard]] ThreadSplit split_threads(const CpuBudget& budget, const ThreadRequest& request);

}  // namespace stoker

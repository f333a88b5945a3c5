// Tries a device as training uses it: does it train, resume, compute in mixed precision, agree with
// the CPU and run our kernels; and do two ranks train together. For machines that we do not have:
// the result is a report that a user can send us. With the CPU as the device the same code runs
// everywhere.
//
// Data is made up and lies in memory. Sets the number of LibTorch's threads of the process. One
// thread.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <c10/core/Device.h>

#include "stoker/train/device_list.h"

namespace stoker {

enum class CheckStatus { kPassed, kFailed, kSkipped };
[[nodiscard]] const char* to_string(CheckStatus status);

struct CheckResult {
  std::string name = {};  // "resume"
  CheckStatus status = CheckStatus::kPassed;
  std::string detail = {};  // what was compared, with figures and tolerance; or why not
  double seconds = 0;
};

struct DeviceCheck {
  std::string device = {};  // "cuda:0"
  std::vector<CheckResult> results = {};
  double samples_per_second = 0;   // of training the network below, after the first epoch
  std::string kernel_tables = {};  // times of our kernels, as Markdown, where they were measured

  [[nodiscard]] bool passed() const;  // nothing failed
};

// The network that is trained, for reports.
[[nodiscard]] std::string device_check_network();

struct DeviceCheckOptions {
  std::filesystem::path folder = {};  // for a checkpoint; made if need be
  int threads = 1;                    // LibTorch's, for what runs on the CPU: the network is small
  std::function<void(const std::string& device, const CheckResult& result)> on_result = {};
};

// Never throws for what the device does: that is a failed result.
[[nodiscard]] DeviceCheck check_device(const c10::Device& device,
                                       const DeviceCheckOptions& options);
// Two ranks, as threads of this process, on these two devices (which may both be the CPU) against
// one process.
[[nodiscard]] CheckResult check_two_ranks(const c10::Device& first, const c10::Device& second,
                                          const DeviceCheckOptions& options);

struct DeviceReport {
  std::vector<std::pair<std::string, std::string>> program = {};  // names and versions
  CpuFacts cpu = {};
  CudaFacts cuda = {};
  std::vector<DeviceCheck> devices = {};

  [[nodiscard]] bool passed() const;
};
// The report as a user sends it.
[[nodiscard]] std::string to_markdown(const DeviceReport& report);

}  // namespace stoker

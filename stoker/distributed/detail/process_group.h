// Making c10d's store and process groups. The only place that knows which backends there are.
#pragma once

#include <chrono>
#include <string>

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "stoker/distributed/launch.h"

namespace stoker::detail {

struct ProcessGroupOptions {
  std::chrono::milliseconds timeout{0};  // of one operation
  std::string address;                   // our own
  c10::Device device = c10::DeviceType::CPU;
  std::string name;  // differs between the groups of a job
};

// Rank 0 keeps it, at the meeting place's address alone, unless torchrun's agent does. Waits for
// all ranks of this attempt; the keys are this attempt's. With a secret, only ranks that know it
// can use rank 0's store, and only their values count in the agent's.
[[nodiscard]] c10::intrusive_ptr<c10d::Store> meet(const Launch& launch,
                                                   const std::string& own_address,
                                                   const std::string& secret,
                                                   std::chrono::milliseconds timeout);

// Gloo, and NCCL beside it where the device is a GPU. Returns when all ranks are connected.
[[nodiscard]] c10::intrusive_ptr<c10d::ProcessGroup> make_process_group(
    const c10::intrusive_ptr<c10d::Store>& store, const Launch& launch,
    const ProcessGroupOptions& options);

}  // namespace stoker::detail

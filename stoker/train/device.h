// Which device computes, and why. A program without CUDA and one with it are the same: the CUDA
// half of LibTorch is loaded when a driver is there.
#pragma once

#include <string>

#include <c10/core/Device.h>

namespace stoker {

// What is known about CUDA on this machine.
struct CudaProbe {
  int devices = 0;
  std::string reason;  // why there are none, or what there is
};
// Looks for the driver, loads LibTorch's CUDA half, counts devices. The first call may take a
// second where there is a driver.
[[nodiscard]] CudaProbe probe_cuda();

struct ChosenDevice {
  c10::Device device;
  std::string reason;
};
// `wanted` is auto, cpu, cuda or cuda:INDEX. Throws Error where it is something else, or names a
// device that is not there; auto never does.
[[nodiscard]] ChosenDevice choose_device(const std::string& wanted, const CudaProbe& cuda);
[[nodiscard]] ChosenDevice choose_device(const std::string& wanted);

}  // namespace stoker

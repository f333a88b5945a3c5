// The machine of machine.h as a device of LibTorch: "fake:0" and "fake:1", on the place that
// LibTorch keeps for devices of others (PrivateUse1). Code that knows devices by c10's guards,
// streams and events alone runs on it; operators are computed by LibTorch's CPU kernels.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include "tests/fake_device/machine.h"

namespace stoker::fake {

// Makes the devices known to LibTorch. Any number of times.
void install();

[[nodiscard]] inline c10::Device device(int index) {
  return {c10::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(index)};
}
[[nodiscard]] inline StreamName name_of(const c10::Stream& stream) {
  return {.device = stream.device_index(), .number = stream.id()};
}
// Of this thread.
[[nodiscard]] StreamName current_stream(int device);

// In how many calls of operators convolutions and products computed in 16 bits.
[[nodiscard]] std::uint64_t calls_in_16_bits();

}  // namespace stoker::fake

// Puts a model where the settings say, and gives LibTorch its threads.
#pragma once

#include <cstdint>

#include "stoker/distributed/launch.h"
#include "stoker/nn/model.h"
#include "stoker/run/run_settings.h"
#include "stoker/train/device.h"
#include "stoker/train/threads.h"

namespace stoker {

struct Placement {
  ChosenDevice device;
  ThreadSplit threads;
};
// Moves the model and sets the threads of the whole process. Throws Error where the device is not
// there.
// One of several ranks gets its part of the machine's CPUs, and the GPU with its number.
Placement place_model(Model& model, const ComputeSettings& settings, std::uint32_t batch_size,
                      const Launch& launch = {});

// What --device means for one of several ranks: a GPU for each where there are any.
[[nodiscard]] std::string device_of_rank(const std::string& wanted, const Launch& launch);

// For evaluation, which is fast with many small images at once; of photographs that many would only
// take memory.
[[nodiscard]] std::uint32_t default_evaluation_batch(const ImageShape& image);

}  // namespace stoker

// Puts a model where the flags say, and gives LibTorch its threads.
#pragma once

#include <cstdint>

#include "stoker/cli/compute_flags.h"
#include "stoker/nn/model.h"
#include "stoker/train/device.h"
#include "stoker/train/threads.h"

namespace stoker {

struct Placement {
  ChosenDevice device;
  ThreadSplit threads;
};
// Moves the model and sets the threads of the whole process. Throws Error where the device is not
// there.
Placement place_model(Model& model, const ComputeFlags& flags, std::uint32_t batch_size);

// For evaluation, which is fast with many small pictures at once; of photographs so many would only
// take memory.
[[nodiscard]] std::uint32_t default_evaluation_batch(const ImageShape& image);

}  // namespace stoker

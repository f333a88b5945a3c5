// Bugs in a copy of stoker/train/device_batches.cc that CMake makes (CMakeLists.txt): each line
// that orders something can be left out or made wrong.
#pragma once

#include <memory>

#include <c10/core/Device.h>

#include "stoker/pipeline/feed.h"
#include "stoker/train/batch_stream.h"

namespace stoker::fake {

enum class Bug {
  kNone,
  kNoWait,             // nobody waits for the copy before the batch is used
  kWrongStream,        // the copy is made on another stream than the event is recorded on
  kNotNoted,           // the allocator does not learn that the computation uses the batch
  kNoHostWait,         // the batch's memory goes back to the workers before the copy is made
  kNoWaitAfterErrors,  // the same, where an error ends it
  kHostRead,           // the host reads a value of the batch
  kLeak,               // a batch is kept for ever
};
extern Bug planted;

// Those that are no line of the original.
void plant_in(const DeviceBatch& batch);
// Frees what kLeak kept.
void forget_leaks();

[[nodiscard]] std::unique_ptr<BatchStream> planted_batches(Feed& feed, const at::Device& device);

}  // namespace stoker::fake

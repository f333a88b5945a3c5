// Which of two kernels for the same contract. Plain values.
#pragma once

#include <cstdint>

namespace stoker::cuda {

enum class Variant : std::uint8_t {
  kPlain,  // one thread a value, as the documents ask; X·Xᵀ with one block of 1024 threads
  kTiled,  // shared memory and vector accesses where they fit, else the plain one
};

}  // namespace stoker::cuda

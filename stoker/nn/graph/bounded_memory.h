// A bound on what operators may allocate on the CPU while a graph that nobody vouches for is tried:
// a few bytes of a file can ask for a tensor of a terabyte.
#pragma once

#include <cstdint>

namespace stoker {

// While one lives, LibTorch's CPU tensors of this process add up to at most `bytes`, freed ones
// included; an operator that asks for more ends in an Error. At most one at a time.
class BoundedMemory {
 public:
  explicit BoundedMemory(std::uint64_t bytes);
  ~BoundedMemory();
  BoundedMemory(const BoundedMemory&) = delete;
  BoundedMemory& operator=(const BoundedMemory&) = delete;
};

// Three quarters of the machine's memory.
[[nodiscard]] std::uint64_t most_trial_bytes();

}  // namespace stoker

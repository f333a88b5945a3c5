// How many multiplications LibTorch makes, counted while they are made: for networks whose layers
// we did not write.
#pragma once

#include <cstdint>
#include <functional>

namespace stoker {

// Of convolutions and matrix products that the action computes in this thread's calls. Takes about
// a microsecond for each operation.
[[nodiscard]] std::int64_t multiply_adds_of(const std::function<void()>& action);

}  // namespace stoker

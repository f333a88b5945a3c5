// Counts the memory of a whole test program, C libraries included. Link test_memory.cc into it.
#pragma once

#include <cstdint>

namespace stoker::test {

// What all threads have taken and not given back now, and the most since the last reset_peak().
[[nodiscard]] std::int64_t live_bytes();
[[nodiscard]] std::int64_t peak_bytes();
void reset_peak();

}  // namespace stoker::test

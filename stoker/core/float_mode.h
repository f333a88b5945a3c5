// What a thread does with subnormal floats: those below 1.2e-38, which have fewer digits the
// smaller they are. Many CPUs take some hundred cycles for an operation on them. A thread begins
// with the mode of the one that started it.
#pragma once

#include <cstdint>

namespace stoker {

enum class FloatMode : std::uint8_t {
  kExact,            // as IEEE 754 has it, and as every process begins
  kFlushSubnormals,  // they count as 0
};

// Of this thread. On CPUs other than x86-64 and 64-bit ARM the mode is always kExact.
[[nodiscard]] FloatMode float_mode() noexcept;
void set_float_mode(FloatMode mode) noexcept;

}  // namespace stoker

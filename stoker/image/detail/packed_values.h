// Values of 1, 2, 4, 8 or 16 bits as rows of TIFF, BMP and PBM pack them, and the one rule for
// other depths: fewer bits are stretched so that the largest value stays the largest, and 16 bits
// keep their high byte. Functions without state; input and output do not overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace stoker::detail {

// High bits come first in a byte; 16 bits lie in the CPU's byte order.
struct PackedValues {
  const std::uint8_t* row = nullptr;
  int bits = 8;
  std::size_t first = 0;  // place of the first value that is wanted
  std::size_t step = 1;   // from there to the next
};

// As stored, of at most 8 bits.
[[nodiscard]] inline std::uint32_t small_value(const PackedValues& in, std::size_t i) {
  const std::size_t bit = (in.first + i * in.step) * static_cast<std::size_t>(in.bits);
  const unsigned shift = 8U - static_cast<unsigned>(in.bits) - static_cast<unsigned>(bit % 8);
  return in.row[bit / 8] >> shift & ((1U << in.bits) - 1U);
}

// Stretched or cut to 8 bits, or values of 16 bits as they are.
template <class Value>
void unpack_values(Value* out, std::size_t out_step, const PackedValues& in, std::size_t count) {
  if (in.bits == 16) {
    constexpr int kShift = sizeof(Value) == 1 ? 8 : 0;
    for (std::size_t i = 0; i < count; ++i) {
      std::uint16_t value = 0;
      std::memcpy(&value, in.row + 2 * (in.first + i * in.step), sizeof value);
      out[i * out_step] = static_cast<Value>(value >> kShift);
    }
    return;
  }
  if (in.bits == 8) {
    for (std::size_t i = 0; i < count; ++i) out[i * out_step] = in.row[in.first + i * in.step];
    return;
  }
  const std::uint32_t factor = 255U / ((1U << in.bits) - 1U);
  for (std::size_t i = 0; i < count; ++i) {
    out[i * out_step] = static_cast<Value>(small_value(in, i) * factor);
  }
}

}  // namespace stoker::detail

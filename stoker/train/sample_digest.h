// Which samples made which step of a run, as one number: the marks of a step's samples are added
// up, in whatever order and on whatever rank they were seen, and the sums of the steps are chained
// in their order. So runs with any number of ranks, broken off or not, have the same number if and
// only if (but for chance, 2^-64) each of their steps saw the same samples.
#pragma once

#include <cstdint>

namespace stoker {

// Steele, Lea and Flood's SplitMix64: every bit of the result depends on every bit of x.
[[nodiscard]] constexpr std::uint64_t mixed_bits(std::uint64_t x) noexcept {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// Sample `index` of the source at this position of this epoch's order.
[[nodiscard]] constexpr std::uint64_t sample_mark(std::uint32_t epoch, std::uint64_t position,
                                                  std::uint64_t index) noexcept {
  return mixed_bits(mixed_bits(mixed_bits(epoch) ^ position) ^ index);
}

// After a step whose marks sum up, modulo 2^64, to `marks`.
[[nodiscard]] constexpr std::uint64_t next_digest(std::uint64_t digest,
                                                  std::uint64_t marks) noexcept {
  return mixed_bits(mixed_bits(digest) ^ marks);
}

}  // namespace stoker

/// \file
/// Philox4x32-10: a counter-based generator. Block i of a stream is a pure function of (counter,
/// key), so any part of any stream can be computed by any thread, in any order, without state.
///
/// J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2,
/// 3", SC 2011. Passes BigCrush; the test holds it against the published known-answer vectors.
/// Cost: about 20 ns a block of 16 bytes; the noise kernel has a version for whole vectors.
#pragma once

#include <array>
#include <cstdint>

namespace stoker {

/// Names a stream.
using PhiloxKey = std::array<std::uint32_t, 2>;
/// A counter, and the 16 random bytes that belong to it.
using PhiloxBlock = std::array<std::uint32_t, 4>;

namespace philox {
inline constexpr int kRounds = 10;
inline constexpr std::uint32_t kMultiplier0 = 0xD2511F53;  ///< for word 0
inline constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;  ///< for word 2
inline constexpr std::uint32_t kWeyl0 = 0x9E3779B9;        ///< added to the key after each round
inline constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
}  // namespace philox

/// The random block of this counter in the stream of this key.
[[nodiscard]] constexpr PhiloxBlock philox4x32(PhiloxBlock counter, PhiloxKey key) noexcept {
  for (int round = 0; round < philox::kRounds; ++round) {
    const std::uint64_t p0 = std::uint64_t{philox::kMultiplier0} * counter[0];
    const std::uint64_t p1 = std::uint64_t{philox::kMultiplier1} * counter[2];
    counter = {
        static_cast<std::uint32_t>(p1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(p1),
        static_cast<std::uint32_t>(p0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key[0] += philox::kWeyl0;
    key[1] += philox::kWeyl1;
  }
  return counter;
}

}  // namespace stoker

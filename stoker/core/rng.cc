#include "stoker/core/rng.h"

namespace stoker {

std::uint32_t Rng::uniform_int(std::uint32_t bound) noexcept {
  // The high word of a 32x32 product maps 2^32 values onto `bound` buckets; the first
  // 2^32 mod bound low words make some buckets one value larger, so those draws are repeated
  // (D. Lemire, "Fast random integer generation in an interval", 2019).
  std::uint64_t product = std::uint64_t{next_u32()} * bound;
  if (static_cast<std::uint32_t>(product) < bound) {
    const std::uint32_t surplus = (0U - bound) % bound;
    while (static_cast<std::uint32_t>(product) < surplus) {
      product = std::uint64_t{next_u32()} * bound;
    }
  }
  return static_cast<std::uint32_t>(product >> 32);
}

}  // namespace stoker

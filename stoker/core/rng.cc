#include "stoker/core/rng.h"

namespace stoker {

RngStream rng_stream(const SampleKey& sample, std::uint16_t operation) noexcept {
  const auto high = static_cast<std::uint32_t>(sample.sample >> 32) & 0xFFFF;
  return {.key = {static_cast<std::uint32_t>(sample.seed),
                  static_cast<std::uint32_t>(sample.seed >> 32)},
          .counter = {0, std::uint32_t{operation} << 16 | high,
                      static_cast<std::uint32_t>(sample.sample), sample.epoch}};
}

void Rng::refill() noexcept {
  block_ = philox4x32(stream_.counter, stream_.key);
  ++stream_.counter[0];
  used_ = 0;
}

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

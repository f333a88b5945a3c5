/// \file
/// Randomness as a function of (seed, epoch, sample, operation): who computes it and when does not
/// matter. Rng is a value: copy it freely, one per operation of one sample; not shared by threads.
///
/// The distributions are our own because the standard library's differ between vendors.
#pragma once

#include <cstdint>

#include "stoker/core/philox.h"
#include "stoker/export.h"

namespace stoker {

/// Names one sample of one epoch of one run.
struct SampleKey {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  std::uint64_t sample = 0;  ///< index in the source; 48 bits count, 2.8e14 samples
};

/// Of a view of the sample (several augmented versions of it in one epoch). The first one's is the
/// sample's own.
[[nodiscard]] constexpr SampleKey view_key(SampleKey sample, std::uint32_t view) noexcept {
  sample.seed += view * 0x9E37'79B9'7F4A'7C15U;  // Philox gives unrelated streams for other keys
  return sample;
}

/// Operation numbers: 0 … kMaxOperations - 1 are the places in a policy, from which an operation
/// draws its arguments; with kPerValueStream added, its second stream, for what every value of an
/// image gets for itself. The rest are our own.
inline constexpr std::uint16_t kMaxOperations = 0x4000;
/// Added to a place in a policy.
inline constexpr std::uint16_t kPerValueStream = 0x4000;
/// The order of an epoch.
inline constexpr std::uint16_t kPermutationStream = 0xF000;
inline constexpr std::uint16_t kWeightsStream = 0xF001;  ///< "sample" is the layer
inline constexpr std::uint16_t kMixStream = 0xF002;      ///< "sample" is the batch
inline constexpr std::uint16_t kDropoutStream = 0xF003;  ///< the batch; "epoch" is the place in it
inline constexpr std::uint16_t kShardStream = 0xF004;    ///< 0: the order of shards; else a window

/// Where a stream of Philox blocks starts: block i has this counter with word 0 set to i.
struct RngStream {
  PhiloxKey key;
  PhiloxBlock counter;  ///< {block, operation and sample's high bits, sample's low bits, epoch}
};
/// The stream that belongs to an operation of a sample.
[[nodiscard]] inline RngStream rng_stream(const SampleKey& sample,
                                          std::uint16_t operation) noexcept {
  const auto high = static_cast<std::uint32_t>(sample.sample >> 32) & 0xFFFF;
  return {.key = {static_cast<std::uint32_t>(sample.seed),
                  static_cast<std::uint32_t>(sample.seed >> 32)},
          .counter = {0, std::uint32_t{operation} << 16 | high,
                      static_cast<std::uint32_t>(sample.sample), sample.epoch}};
}

/// Draws numbers from the stream of one operation of one sample.
class Rng {
 public:
  Rng(const SampleKey& sample, std::uint16_t operation) noexcept
      : stream_(rng_stream(sample, operation)) {}

  [[nodiscard]] std::uint32_t next_u32() noexcept {
    if (used_ == 4) refill();
    return block_[used_++];
  }
  [[nodiscard]] std::uint64_t next_u64() noexcept {
    const std::uint64_t low = next_u32();
    return low | std::uint64_t{next_u32()} << 32;
  }
  /// Uniform in [0, 1), a multiple of 2^-53.
  [[nodiscard]] double uniform() noexcept {
    return static_cast<double>(next_u64() >> 11) * 0x1p-53;
  }
  /// Uniform in [low, high]; low where both are equal.
  [[nodiscard]] double uniform(double low, double high) noexcept {
    return low + (high - low) * uniform();
  }
  /// Uniform in [0, bound), without bias. bound > 0.
  [[nodiscard]] STOKER_API std::uint32_t uniform_int(std::uint32_t bound) noexcept;
  [[nodiscard]] bool bernoulli(double probability) noexcept { return uniform() < probability; }

 private:
  void refill() noexcept {
    block_ = philox4x32(stream_.counter, stream_.key);
    ++stream_.counter[0];
    used_ = 0;
  }

  RngStream stream_;
  PhiloxBlock block_{};
  int used_ = 4;  ///< words of block_ already handed out
};

}  // namespace stoker

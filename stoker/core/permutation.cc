#include "stoker/core/permutation.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/rng.h"

namespace stoker {
namespace {

// Mixes a half with its round key: xor-shifts and odd multipliers spread every input bit over the
// word; the top bits, taken by the caller, are the best mixed.
constexpr std::uint32_t mix(std::uint32_t half, std::uint32_t key) noexcept {
  std::uint32_t h = (half ^ key) * 0x9E3779B1U;
  h ^= h >> 15;
  h = (h + key) * 0x85EBCA77U;
  h ^= h >> 13;
  return h * 0xC2B2AE3DU;
}

// Short halves leave a round little to choose from, so small sets take more rounds; the tests hold
// sets of 3 to 6 against all their permutations, and larger ones against a chi-square.
constexpr int rounds_for(int bits) noexcept { return bits <= 12 ? 24 : 8; }

}  // namespace

Permutation::Permutation(std::uint64_t n, std::uint64_t seed, std::uint32_t epoch) : size_(n) {
  if (n < 1 || n > kMaxSize) {
    throw Error({.what = "cannot shuffle the samples",
                 .expected = fmt::format("between 1 and {} samples", kMaxSize),
                 .found = fmt::format("{}", n)});
  }
  const int bits = std::max(2, static_cast<int>(std::bit_width(n - 1)));  // a bit for each half
  low_bits_ = bits / 2;
  high_bits_ = bits - low_bits_;
  rounds_ = rounds_for(bits);
  Rng rng({.seed = seed, .epoch = epoch, .sample = 0}, kPermutationStream);
  for (auto& key : round_keys_) key = rng.next_u32();
}

// Each round changes one half by a function of the other, which can be undone: a bijection. The
// halves keep their widths, so the domain needs no even number of bits.
std::uint64_t Permutation::permute_domain(std::uint64_t value) const noexcept {
  auto low = static_cast<std::uint32_t>(value & ((std::uint64_t{1} << low_bits_) - 1));
  auto high = static_cast<std::uint32_t>(value >> low_bits_);
  const int low_shift = 32 - low_bits_;
  const int high_shift = 32 - high_bits_;
  for (int round = 0; round < rounds_; round += 2) {
    high ^= mix(low, round_keys_[round]) >> high_shift;
    low ^= mix(high, round_keys_[round + 1]) >> low_shift;
  }
  return std::uint64_t{high} << low_bits_ | low;
}

std::uint64_t Permutation::unpermute_domain(std::uint64_t value) const noexcept {
  auto low = static_cast<std::uint32_t>(value & ((std::uint64_t{1} << low_bits_) - 1));
  auto high = static_cast<std::uint32_t>(value >> low_bits_);
  const int low_shift = 32 - low_bits_;
  const int high_shift = 32 - high_bits_;
  for (int round = rounds_ - 2; round >= 0; round -= 2) {
    low ^= mix(high, round_keys_[round + 1]) >> low_shift;
    high ^= mix(low, round_keys_[round]) >> high_shift;
  }
  return std::uint64_t{high} << low_bits_ | low;
}

}  // namespace stoker

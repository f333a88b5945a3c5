#include "stoker/kernels/noise/noise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/kernels/noise/noise_simd.cc"
#include <cstring>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

// No vectors here: the plain loop is the best there is.
void add_noise_simd(std::uint8_t* values, std::size_t count, std::uint16_t amplitude,
                    const RngStream& stream) {
  add_noise_reference(values, count, amplitude, stream);
}

#else

// At most eight lanes: a tile has eight blocks, one a lane.
using D64 = hn::CappedTag<std::uint64_t, 8>;
using D32 = hn::Repartition<std::uint32_t, D64>;
using D16 = hn::Repartition<std::uint16_t, D64>;
using V64 = hn::Vec<D64>;

struct BlockPair {
  V64 words01, words23;  // as one 64-bit number each
};

// Product of the low halves of all lanes. On x86 one instruction; MulEven reads only those halves.
HWY_INLINE V64 multiply_low(V64 a, V64 b) {
  return hn::MulEven(hn::BitCast(D32(), a), hn::BitCast(D32(), b));
}

// What all blocks of a run share. The round keys stand in memory: a broadcast from there costs no
// arithmetic instruction, which is what limits this kernel.
struct SharedInput {
  std::uint64_t counter[4];
  std::uint64_t keys0[philox::kRounds], keys1[philox::kRounds];
};

SharedInput share(const RngStream& stream) {
  SharedInput shared;
  for (int i = 0; i < 4; ++i) shared.counter[i] = stream.counter[i];
  for (std::uint32_t round = 0; round < philox::kRounds; ++round) {
    shared.keys0[round] = stream.key[0] + round * philox::kWeyl0;  // modulo 2^32
    shared.keys1[round] = stream.key[1] + round * philox::kWeyl1;
  }
  return shared;
}

// One Philox block a lane. Words lie in the low halves; what stands above them is never read.
HWY_INLINE BlockPair philox_blocks(V64 block_index, const SharedInput& shared) {
  const D64 d;
  V64 c0 = block_index;
  V64 c1 = hn::Set(d, shared.counter[1]), c2 = hn::Set(d, shared.counter[2]);
  V64 c3 = hn::Set(d, shared.counter[3]);
  const V64 m0 = hn::Set(d, philox::kMultiplier0), m1 = hn::Set(d, philox::kMultiplier1);
  for (int round = 0; round < philox::kRounds; ++round) {
    const V64 p0 = multiply_low(c0, m0), p1 = multiply_low(c2, m1);
    c0 = hn::Xor(hn::ShiftRight<32>(p1), hn::Xor(c1, hn::Set(d, shared.keys0[round])));
    c1 = p1;
    c2 = hn::Xor(hn::ShiftRight<32>(p0), hn::Xor(c3, hn::Set(d, shared.keys1[round])));
    c3 = p0;
  }
  const V64 low = hn::Set(d, 0xFFFFFFFF);
  return {.words01 = hn::Or(hn::And(c0, low), hn::ShiftLeft<32>(c1)),
          .words23 = hn::Or(hn::And(c2, low), hn::ShiftLeft<32>(c3))};
}

// Adds noise to as many values as a vector has 16-bit lanes.
HWY_INLINE void apply(std::uint8_t* values, V64 bits, std::uint16_t amplitude) {
  const D16 d16;
  const hn::RebindToSigned<D16> di16;
  const hn::Rebind<std::uint8_t, D16> d8;
  const auto scaled =
      hn::MulHigh(hn::BitCast(d16, bits), hn::Set(d16, static_cast<std::uint16_t>(2 * amplitude)));
  const auto noise = hn::BitCast(di16, hn::Sub(scaled, hn::Set(d16, amplitude)));
  const auto value = hn::BitCast(di16, hn::ShiftLeft<7>(hn::PromoteTo(d16, hn::LoadU(d8, values))));
  // Saturation clamps at 32767, which is above 255 * 128 + 64 and so rounds to 255.
  const auto sum = hn::SaturatedAdd(hn::SaturatedAdd(value, noise), hn::Set(di16, 64));
  hn::StoreU(hn::DemoteTo(d8, hn::ShiftRight<7>(sum)), d8, values);
}

HWY_INLINE void add_noise_tile(std::uint8_t* values, std::size_t tile, std::uint16_t amplitude,
                               const SharedInput& shared) {
  const D64 d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t block = 0; block < 8; block += lanes) {
    const V64 index = hn::Iota(d, tile * 8 + block);
    const BlockPair bits = philox_blocks(index, shared);
    apply(values + block * 4, bits.words01, amplitude);
    apply(values + 32 + block * 4, bits.words23, amplitude);
  }
}

void add_noise_simd(std::uint8_t* values, std::size_t count, std::uint16_t amplitude,
                    const RngStream& stream) {
  const SharedInput shared = share(stream);
  std::size_t tile = 0;
  for (; (tile + 1) * 64 <= count; ++tile) {
    add_noise_tile(values + tile * 64, tile, amplitude, shared);
  }
  const std::size_t rest = count - tile * 64;
  if (rest == 0) return;
  std::uint8_t last[64] = {};
  std::memcpy(last, values + tile * 64, rest);
  add_noise_tile(last, tile, amplitude, shared);
  std::memcpy(values + tile * 64, last, rest);
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace stoker::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {
HWY_EXPORT(add_noise_simd);
}  // namespace

void add_noise(std::uint8_t* values, std::size_t count, std::uint16_t amplitude,
               const RngStream& stream) {
  if (detail::use_reference_kernels()) {
    add_noise_reference(values, count, amplitude, stream);
  } else {
    HWY_DYNAMIC_DISPATCH(add_noise_simd)(values, count, amplitude, stream);
  }
}

}  // namespace stoker
#endif  // HWY_ONCE

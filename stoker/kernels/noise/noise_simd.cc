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

// The upper half of every lane, in the lower half. A shuffle, not a shift: on x86 shifts compete
// with the multiplications for one port, shuffles have another.
HWY_INLINE V64 upper_half(V64 a) {
  return hn::BitCast(D64(), hn::Shuffle2301(hn::BitCast(D32(), a)));
}

// One Philox block a lane. Words lie in the low halves; what stands above them is never read.
struct State {
  V64 c0, c1, c2, c3;
};

HWY_INLINE State first_state(std::uint64_t first_block, const SharedInput& shared) {
  const D64 d;
  return {.c0 = hn::Iota(d, first_block),
          .c1 = hn::Set(d, shared.counter[1]),
          .c2 = hn::Set(d, shared.counter[2]),
          .c3 = hn::Set(d, shared.counter[3])};
}

HWY_INLINE void do_round(State& s, V64 key0, V64 key1) {
  const D64 d;
  const V64 p0 = multiply_low(s.c0, hn::Set(d, philox::kMultiplier0));
  const V64 p1 = multiply_low(s.c2, hn::Set(d, philox::kMultiplier1));
  s.c0 = hn::Xor(upper_half(p1), hn::Xor(s.c1, key0));
  s.c1 = p1;
  s.c2 = hn::Xor(upper_half(p0), hn::Xor(s.c3, key1));
  s.c3 = p0;
}

HWY_INLINE BlockPair join_words(const State& s) {
  const V64 low = hn::Set(D64(), 0xFFFFFFFF);
  return {.words01 = hn::Or(hn::And(s.c0, low), hn::ShiftLeft<32>(s.c1)),
          .words23 = hn::Or(hn::And(s.c2, low), hn::ShiftLeft<32>(s.c3))};
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

HWY_INLINE void apply_block(std::uint8_t* values, const State& state, std::uint16_t amplitude) {
  const BlockPair bits = join_words(state);
  apply(values, bits.words01, amplitude);
  apply(values + 32, bits.words23, amplitude);
}

// Two tiles at once: the rounds of one depend on each other, those of two do not.
HWY_INLINE void add_noise_tiles(std::uint8_t* values, std::size_t tile, std::uint16_t amplitude,
                                const SharedInput& shared) {
  const D64 d;
  for (std::size_t block = 0; block < 8; block += hn::Lanes(d)) {
    State a = first_state(tile * 8 + block, shared);
    State b = first_state(tile * 8 + 8 + block, shared);
    for (int round = 0; round < philox::kRounds; ++round) {
      const V64 key0 = hn::Set(d, shared.keys0[round]), key1 = hn::Set(d, shared.keys1[round]);
      do_round(a, key0, key1);
      do_round(b, key0, key1);
    }
    apply_block(values + block * 4, a, amplitude);
    apply_block(values + 64 + block * 4, b, amplitude);
  }
}

void add_noise_simd(std::uint8_t* values, std::size_t count, std::uint16_t amplitude,
                    const RngStream& stream) {
  constexpr std::size_t kStep = 128;  // two tiles
  const SharedInput shared = share(stream);
  std::size_t done = 0;
  for (; done + kStep <= count; done += kStep) {
    add_noise_tiles(values + done, done / 64, amplitude, shared);
  }
  if (done == count) return;
  std::uint8_t last[kStep] = {};
  std::memcpy(last, values + done, count - done);
  add_noise_tiles(last, done / 64, amplitude, shared);
  std::memcpy(values + done, last, count - done);
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace stoker::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "stoker/core/invariant.h"
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {
HWY_EXPORT(add_noise_simd);
}  // namespace

void add_noise(std::uint8_t* values, std::size_t count, std::uint16_t amplitude,
               const RngStream& stream) {
  STOKER_INVARIANT(count <= std::uint64_t{1} << 35, "{} values", count);
  if (detail::use_reference_kernels()) {
    add_noise_reference(values, count, amplitude, stream);
  } else {
    HWY_DYNAMIC_DISPATCH(add_noise_simd)(values, count, amplitude, stream);
  }
}

}  // namespace stoker
#endif  // HWY_ONCE

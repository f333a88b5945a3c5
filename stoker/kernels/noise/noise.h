// Noise: every value of an image gets its own uniform number from [-max, max] and stays in 0..255.
//
// Works in place on one run of values. Random bits come from an RngStream, 16 for each value, so
// value i of the run always gets the same ones: i lies in tile i / 64, a tile is 8 Philox blocks,
// and within it value j takes 16-bit part j % 4 of words {0, 1} (j < 32) or {2, 3} of block (j / 4)
// % 8. Any vector width computes that without moving lanes. Arithmetic: amplitude a in steps of
// 1/128 of a grey level; the noise is floor(bits * 2a / 2^16) - a, the result (128 value + noise +
// 64) >> 7, clamped. The run is at most 2^35 values long.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/core/rng.h"

namespace stoker {

// `max_noise` is a fraction of the full scale, 0 to 1; returns steps of 1/128 grey level, 0 to
// 32640.
[[nodiscard]] std::uint16_t noise_amplitude(double max_noise);

void add_noise(std::uint8_t* values, std::size_t count, std::uint16_t amplitude,
               const RngStream& stream);

// The same for values of 16 bits, which have only this version. The amplitude is in steps of one
// value, 0 to 65535: noise is floor(bits * 2a / 2^16) - a, the result value + noise, clamped.
[[nodiscard]] std::uint16_t wide_noise_amplitude(double max_noise);
void add_wide_noise(std::uint16_t* values, std::size_t count, std::uint16_t amplitude,
                    const RngStream& stream);

void add_noise_reference(std::uint8_t* values, std::size_t count, std::uint16_t amplitude,
                         const RngStream& stream);

}  // namespace stoker

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/kernels/noise/noise.h"

namespace stoker {
namespace {

std::uint32_t random_bits(const RngStream& stream, std::size_t index) {
  const std::size_t tile = index / 64, place = index % 64;
  PhiloxBlock counter = stream.counter;
  counter[0] = static_cast<std::uint32_t>(tile * 8 + place / 4 % 8);
  const PhiloxBlock block = philox4x32(counter, stream.key);
  const std::uint32_t word = block[place / 32 * 2 + place % 4 / 2];
  return place % 2 == 0 ? word & 0xFFFF : word >> 16;
}

void check_largest(double max_noise) {
  if (max_noise >= 0 && max_noise <= 1) return;
  throw Error({.what = "cannot add noise",
               .expected = "a largest noise of 0 to 1 (a fraction of the full scale)",
               .found = fmt::format("{}", max_noise)});
}

}  // namespace

std::uint16_t noise_amplitude(double max_noise) {
  check_largest(max_noise);
  return static_cast<std::uint16_t>(std::floor(max_noise * 255 * 128 + 0.5));
}

std::uint16_t wide_noise_amplitude(double max_noise) {
  check_largest(max_noise);
  return static_cast<std::uint16_t>(std::floor(max_noise * 65535 + 0.5));
}

void add_wide_noise(std::uint16_t* values, std::size_t count, std::uint16_t amplitude,
                    const RngStream& stream) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t scaled = std::uint64_t{random_bits(stream, i)} * 2 * amplitude >> 16;
    const int noise = static_cast<int>(scaled) - amplitude;
    values[i] = static_cast<std::uint16_t>(std::clamp(values[i] + noise, 0, 65535));
  }
}

void add_noise_reference(std::uint8_t* values, std::size_t count, std::uint16_t amplitude,
                         const RngStream& stream) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t scaled = random_bits(stream, i) * 2U * amplitude >> 16;
    const int noise = static_cast<int>(scaled) - amplitude;
    values[i] = static_cast<std::uint8_t>(std::clamp((values[i] * 128 + noise + 64) >> 7, 0, 255));
  }
}

}  // namespace stoker

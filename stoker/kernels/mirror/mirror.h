// Pixels of a row in reverse order: out[x] = in[width - 1 - x], 1 or 3 channels. The rows do not
// overlap. Cost: one load, shuffle and store for five colours or sixteen greys.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoker {

void mirror_row(std::uint8_t* out, const std::uint8_t* in, std::size_t width, int channels);
void mirror_row_reference(std::uint8_t* out, const std::uint8_t* in, std::size_t width,
                          int channels);

}  // namespace stoker

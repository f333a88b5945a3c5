/// \file
/// From bytes to floats: out[c][y][x] = in[y][x][c] * scale[c] + offset[c], each step rounded once,
/// so every version gives the same bits. The output has the planes of a tensor (channel, row,
/// column), no gaps.
#pragma once

#include <array>

#include "stoker/export.h"
#include "stoker/image/image.h"

namespace stoker {

/// Of each channel.
struct Normalisation {
  std::array<float, 3> scale = {1 / 255.0F, 1 / 255.0F, 1 / 255.0F};
  std::array<float, 3> offset = {0, 0, 0};
  bool operator==(const Normalisation&) const = default;
};

/// (value / 255 - mean) / deviation as a Normalisation.
[[nodiscard]] STOKER_API Normalisation
from_mean_and_deviation(const std::array<double, 3>& mean, const std::array<double, 3>& deviation);

/// `out` holds in.shape.bytes() floats.
STOKER_API void normalise(float* out, const ImageView& in, const Normalisation& normalisation);

/// The slow obvious version, for comparison.
STOKER_API void normalise_reference(float* out, const ImageView& in,
                                    const Normalisation& normalisation);

}  // namespace stoker

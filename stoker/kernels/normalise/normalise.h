/// \file
/// From bytes to floats: out[c][y][x] = in[y][x][c] * scale[c] + offset[c], each step rounded once,
/// so every version gives the same bits. The output has the planes of a tensor (channel, row,
/// column), or the order of the image (row, column, channel), no gaps. Values of 16 bits take scale
/// / 257, rounded, so that they mean the same.
#pragma once

#include <array>

#include "stoker/export.h"
#include "stoker/image/image.h"

namespace stoker {

/// Of each channel.
struct Normalisation {
  std::array<float, kMaxChannels> scale = {1 / 255.0F, 1 / 255.0F, 1 / 255.0F, 1 / 255.0F};
  std::array<float, kMaxChannels> offset = {0, 0, 0, 0};
  bool operator==(const Normalisation&) const = default;
};

/// A number for each channel that an image may have.
using ChannelNumbers = std::array<double, kMaxChannels>;
/// (value / 255 - mean) / deviation as a Normalisation; a deviation of 0 is not given and counts as
/// 1.
[[nodiscard]] STOKER_API Normalisation from_mean_and_deviation(const ChannelNumbers& mean,
                                                               const ChannelNumbers& deviation);

/// `out` holds in.shape.values() floats.
STOKER_API void normalise(float* out, const ImageView& in, const Normalisation& normalisation);

/// The same numbers in the order of the image: row, column, channel.
STOKER_API void normalise_channels_last(float* out, const ImageView& in,
                                        const Normalisation& normalisation);

/// The slow obvious version, for comparison.
STOKER_API void normalise_reference(float* out, const ImageView& in,
                                    const Normalisation& normalisation);
/// That of normalise_channels_last().
STOKER_API void normalise_channels_last_reference(float* out, const ImageView& in,
                                                  const Normalisation& normalisation);

}  // namespace stoker

/// \file
/// How pixels become numbers, as a model's file says it.
#pragma once

#include <string>

#include "stoker/kernels/normalise/normalise.h"

namespace stoker {

/// (value / 255 - mean) / deviation, for each channel; of 16 bits (value / 65535 - mean) /
/// deviation.
struct Preprocessing {
  ChannelNumbers mean = {0, 0, 0, 0};
  ChannelNumbers deviation = {1, 1, 1, 1};
  std::string framing = {};  ///< the policy that gives images their size; empty: they have it
  std::string window = {};   ///< of values of 16 bits, "100,4000" or "image"; empty: none

  [[nodiscard]] Normalisation normalisation() const {
    return from_mean_and_deviation(mean, deviation);
  }
  bool operator==(const Preprocessing&) const = default;
};

}  // namespace stoker

/// \file
/// How pixels become numbers, as a model's file says it.
#pragma once

#include <array>
#include <string>

#include "stoker/kernels/normalise/normalise.h"

namespace stoker {

/// (value / 255 - mean) / deviation, for each channel.
struct Preprocessing {
  std::array<double, 3> mean = {0, 0, 0};
  std::array<double, 3> deviation = {1, 1, 1};
  std::string framing = {};  ///< the policy that gives images their size; empty: they have it

  [[nodiscard]] Normalisation normalisation() const {
    return from_mean_and_deviation(mean, deviation);
  }
  bool operator==(const Preprocessing&) const = default;
};

}  // namespace stoker

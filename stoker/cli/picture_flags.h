// Flags of the commands that read pictures, and how their pixels become numbers.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "stoker/cli/command.h"
#include "stoker/image/decode.h"
#include "stoker/kernels/normalise/normalise.h"

namespace stoker {

// What --data takes, in the same words everywhere.
[[nodiscard]] std::string data_help();

// --max-pixels
void add_max_pixels_flag(const Command& command, DecodeLimits& limits);

// --mean and --std. Where they are not given: ImageNet's for pictures in colour, 0 and 1 for grey
// ones.
struct NormaliseFlags {
  std::vector<double> mean, deviation;

  void add_to(const Command& command);
  // Puts in what was not given; throws Error where what was given does not fit.
  void resolve(int channels);
  // After resolve(): a number for each of three channels.
  [[nodiscard]] std::array<double, 3> means() const;
  [[nodiscard]] std::array<double, 3> deviations() const;
  [[nodiscard]] Normalisation normalisation() const {
    return from_mean_and_deviation(means(), deviations());
  }
};

}  // namespace stoker

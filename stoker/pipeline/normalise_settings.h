/// \file
/// How pixels become numbers: mean and standard deviation of the channels, as a user gives them.
#pragma once

#include <string>
#include <vector>

#include "stoker/core/setting.h"
#include "stoker/kernels/normalise/normalise.h"

namespace stoker {

/// Where they are not given: ImageNet's for colour images, 0 and 1 for grey ones.
struct NormaliseSettings {
  std::vector<double> mean, deviation;

  /// Puts in what was not given; throws Error where what was given does not fit.
  void resolve(int channels);
  /// After resolve(): a number for each channel. What is not given for alpha, the fourth, is 0 and
  /// 1.
  [[nodiscard]] ChannelNumbers means() const;
  [[nodiscard]] ChannelNumbers deviations() const;
  [[nodiscard]] Normalisation normalisation() const {
    return from_mean_and_deviation(means(), deviations());
  }
};

/// Their list.
[[nodiscard]] std::vector<Setting> settings_of(NormaliseSettings& normalise);

}  // namespace stoker

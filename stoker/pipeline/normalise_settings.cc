#include "stoker/pipeline/normalise_settings.h"

#include <cmath>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"

namespace stoker {
namespace {

const std::vector<double> kImageNetMean = {0.485, 0.456, 0.406};
const std::vector<double> kImageNetDeviation = {0.229, 0.224, 0.225};

ChannelNumbers per_channel(const std::vector<double>& values, double alpha) {
  STOKER_INVARIANT(values.size() == 1 || values.size() == 3 || values.size() == 4, "{} values",
                   values.size());
  if (values.size() == 1) return {values[0], values[0], values[0], values[0]};
  return {values[0], values[1], values[2], values.size() == 4 ? values[3] : alpha};
}

void check_count(const std::vector<double>& values, const char* option, int channels) {
  const bool all = values.size() == 4 && channels == 4;
  if (values.size() == 1 || values.size() == 3 || all) return;
  throw OptionError({.what = fmt::format("`{}` does not fit", option),
                     .expected = "one number, or one for each of three channels",
                     .found = fmt::format("{}", values.size())});
}

void check_values(const std::vector<double>& values, const char* option, bool above_zero) {
  for (const double value : values) {
    if (std::isfinite(value) && (!above_zero || value > 0)) continue;
    throw OptionError({.what = fmt::format("`{}` does not fit", option),
                       .expected = above_zero ? "finite numbers above 0" : "finite numbers",
                       .found = fmt::format("{}", value)});
  }
}

}  // namespace

std::vector<Setting> settings_of(NormaliseSettings& normalise) {
  return {{.name = "mean",
           .help = "mean per channel, in [0, 1] (not given: ImageNet's for colour, 0 for grey)",
           .place = &normalise.mean,
           .most_values = kMaxChannels},
          {.name = "std",
           .help = "standard deviation per channel (not given: ImageNet's for colour, 1 for grey)",
           .place = &normalise.deviation,
           .most_values = kMaxChannels}};
}

void NormaliseSettings::resolve(int channels) {
  const bool colour = channels >= 3;
  if (mean.empty()) mean = colour ? kImageNetMean : std::vector<double>{0};
  if (deviation.empty()) deviation = colour ? kImageNetDeviation : std::vector<double>{1};
  check_count(mean, "mean", channels);
  check_count(deviation, "std", channels);
  check_values(mean, "mean", /*above_zero=*/false);
  check_values(deviation, "std", /*above_zero=*/true);
}

ChannelNumbers NormaliseSettings::means() const { return per_channel(mean, 0); }
ChannelNumbers NormaliseSettings::deviations() const { return per_channel(deviation, 1); }

}  // namespace stoker

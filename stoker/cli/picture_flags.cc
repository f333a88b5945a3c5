#include "stoker/cli/picture_flags.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/data/catalog.h"

namespace stoker {
namespace {

const std::vector<double> kImageNetMean = {0.485, 0.456, 0.406};
const std::vector<double> kImageNetDeviation = {0.229, 0.224, 0.225};

std::array<double, 3> per_channel(const std::vector<double>& values) {
  STOKER_INVARIANT(values.size() == 1 || values.size() == 3, "{} values", values.size());
  if (values.size() == 1) return {values[0], values[0], values[0]};
  return {values[0], values[1], values[2]};
}

void check_count(const std::vector<double>& values, const char* flag) {
  if (values.size() == 1 || values.size() == 3) return;
  throw Error({.what = fmt::format("--{} does not fit", flag),
               .expected = "one number, or one for each of three channels",
               .found = fmt::format("{}", values.size())});
}

void check_values(const std::vector<double>& values, const char* flag, bool above_zero) {
  for (const double value : values) {
    if (std::isfinite(value) && (!above_zero || value > 0)) continue;
    throw Error({.what = fmt::format("--{} does not fit", flag),
                 .expected = above_zero ? "finite numbers above 0" : "finite numbers",
                 .found = fmt::format("{}", value)});
  }
}

}  // namespace

std::string data_help() {
  return fmt::format(
      "data set by name ({}), or a path: a folder with its files, a folder of pictures with a "
      "folder for each class, a list of pictures, or shards: a folder, a "
      "URL (s3://, http://, https://), a manifest.tsv or a pattern such as "
      "shard-{{000000..000123}}.tar",
      fmt::join(known_data_names(), ", "));
}

void add_max_pixels_flag(const Command& command, DecodeLimits& limits) {
  command.add_option("--max-pixels", limits.max_pixels, "larger pictures are errors")
      .between(std::int64_t{1}, std::int64_t{1} << 40);
}

void NormaliseFlags::add_to(const Command& command) {
  command
      .add_option("--mean", mean,
                  "of a channel (all, or one each), in [0, 1]; not given: ImageNet's for colour, 0 "
                  "for grey")
      .values(1, 3);
  command
      .add_option("--std", deviation,
                  "deviation: pixels become (value - mean) / std; not given: ImageNet's, or 1")
      .values(1, 3);
}

void NormaliseFlags::resolve(int channels) {
  const bool colour = channels == 3;
  if (mean.empty()) mean = colour ? kImageNetMean : std::vector<double>{0};
  if (deviation.empty()) deviation = colour ? kImageNetDeviation : std::vector<double>{1};
  check_count(mean, "mean");
  check_count(deviation, "std");
  check_values(mean, "mean", /*above_zero=*/false);
  check_values(deviation, "std", /*above_zero=*/true);
}

std::array<double, 3> NormaliseFlags::means() const { return per_channel(mean); }
std::array<double, 3> NormaliseFlags::deviations() const { return per_channel(deviation); }

}  // namespace stoker

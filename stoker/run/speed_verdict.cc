#include "stoker/run/speed_verdict.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace stoker {
namespace {

constexpr double kMuch = 0.1;  // of an epoch: less is not what to work on first
constexpr double kMostTimes = 100;

std::string slowest_stage(const StageShares& workers) {
  const std::array<std::pair<double, std::string_view>, 4> stages = {
      {{workers.store, "waiting for the store"},
       {workers.read, "reading and decoding"},
       {workers.augment, "augmentation"},
       {workers.write, "writing into batches"}}};
  const auto& [share, name] = *std::max_element(stages.begin(), stages.end());
  return fmt::format("workers spent {:.0f} % of theirs on {}", 100 * share, name);
}

std::string what_the_feed_could(const StageShares& workers) {
  const double busy = 1 - workers.blocked;
  if (busy * kMostTimes <= 1) return fmt::format("more than {:.0f} times as much", kMostTimes);
  return fmt::format("{:.{}f} times as much", 1 / busy, busy > 0.1 ? 1 : 0);
}

}  // namespace

std::string speed_verdict(const EpochSeconds& epoch, const StageShares& workers) {
  if (epoch.all <= 0) return "";
  const double most = std::max({epoch.wait, epoch.copy, epoch.sums});
  const double percent = 100 * most / epoch.all;
  if (most < kMuch * epoch.all) {
    return fmt::format("compute-bound; the feed could supply {}", what_the_feed_could(workers));
  }
  if (most == epoch.wait) {
    return fmt::format("feed-bound: {:.0f} % of the time was data wait; {}", percent,
                       slowest_stage(workers));
  }
  if (most == epoch.sums) {
    return fmt::format("bound by the sums over ranks: {:.0f} % of the time", percent);
  }
  return fmt::format("bound by copies to the device: {:.0f} % of the time", percent);
}

}  // namespace stoker

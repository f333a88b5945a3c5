// One line at the end of a run: what limited its speed, and by how much the rest could be faster.
#pragma once

#include <string>

#include "stoker/pipeline/feed_stats.h"

namespace stoker {

// Seconds of an epoch, and those of them in which the trainer did nothing but this.
struct EpochSeconds {
  double all = 0;
  double wait = 0;  // for the feed
  double copy = 0;  // to the device
  double sums = 0;  // for the sums over all ranks
};

// "compute-bound; the feed could supply 40 times as much". The factor holds as long as the workers
// get as much of the cores as they had. Empty where nothing was measured.
[[nodiscard]] std::string speed_verdict(const EpochSeconds& epoch, const StageShares& workers);

}  // namespace stoker

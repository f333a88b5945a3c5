/// \file
/// What a feed tells about itself: how long the reader waited for it, which fraction of the
/// workers' time each stage took, and how full the ring was over time. Plain values.
#pragma once

#include <cstdint>
#include <vector>

namespace stoker {

/// Stages of a worker.
struct StageShares {
  double store = 0;    ///< waiting for bytes that a store had not sent yet
  double read = 0;     ///< the sample's bytes from the source, decoded
  double augment = 0;  ///< the policy
  double write = 0;    ///< into the batch's memory, normalised
  double blocked = 0;  ///< no room in the ring: the reader is the slower side
};

/// Of a feed, so far.
struct FeedStats {
  std::uint64_t samples = 0;  ///< written by the workers so far
  double seconds = 0;         ///< since the reader asked for its first batch
  double wait_share = 0;      ///< of those, the fraction in which the reader waited for a batch
  StageShares stages;         ///< fractions of the workers' time; they add up to 1
  std::vector<double>
      ring_fill;  ///< finished batches at each take, averaged over equal parts of the run
  std::uint32_t ring_batches = 0;  ///< what would be full
};

}  // namespace stoker

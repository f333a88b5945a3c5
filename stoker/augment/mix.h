/// \file
/// Mixup (Zhang et al., 2017) and CutMix (Yun et al., 2019) on a finished batch of floats, with one
/// lambda a batch. Drawn from (seed, epoch, number of the batch) alone, so neither workers nor
/// ranks change it. Plain functions: any thread may mix its own batch; no memory is taken.
///
/// Sample i is mixed with sample n - 1 - i (as timm does it), which needs no copy of the batch; the
/// middle one of an odd number stays. A batch must come shuffled, as the feed's do.
#pragma once

#include <span>

#include "stoker/augment/box.h"
#include "stoker/core/rng.h"

namespace stoker {

/// Which batches are mixed, and how much.
struct MixOptions {
  double mixup_alpha = 0;           ///< of Beta(alpha, alpha); 0 means no Mixup
  double cutmix_alpha = 0;          ///< the same of CutMix
  double probability = 1;           ///< that a batch is mixed at all
  double switch_probability = 0.5;  ///< of CutMix where both are on
};
/// Throws Error where a number is negative, not finite, or no probability.
void check_mix(const MixOptions& options);

/// Of the images of a batch.
struct BatchShape {
  std::size_t samples = 0, channels = 0;
  int height = 0, width = 0;
};

/// What is done to one batch. The loss is lambda * loss(label) + (1 - lambda) * loss(partner's
/// label).
struct Mix {
  enum class Kind { kNone, kMixup, kCutmix };
  Kind kind = Kind::kNone;
  float lambda = 1;  ///< fraction of a sample's own image; of CutMix what the box really leaves
  Box box = {};      ///< CutMix: what comes from the partner
};

/// Batch `batch` of the epoch.
[[nodiscard]] Mix draw_mix(const MixOptions& options, std::uint64_t seed, std::uint32_t epoch,
                           std::uint64_t batch, const BatchShape& shape);

/// The sample that is mixed into this one.
[[nodiscard]] inline std::size_t mix_partner(std::size_t sample, std::size_t samples) noexcept {
  return samples - 1 - sample;
}

/// Mixup: x_i = lambda x_i + (1 - lambda) x_partner, each step rounded once; CutMix: the box of x_i
/// is that of x_partner. `values` has the shape (samples, channels, height, width), no gaps.
void apply_mix(std::span<float> values, const BatchShape& shape, const Mix& mix);

}  // namespace stoker

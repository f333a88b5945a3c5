// The feed of a training run: one place says how training samples are made, for the trainer and for
// everything that shows or digests a training batch. A plain function.
#pragma once

#include "stoker/distributed/group.h"
#include "stoker/pipeline/feed.h"
#include "stoker/train/trainer.h"

namespace stoker {

// From the first batch to the last; a run that is resumed sets `begin`. `group`: the ranks that
// train together, or null.
[[nodiscard]] FeedOptions training_feed_options(const TrainData& data, const TrainOptions& options,
                                                const Group* group = nullptr);

}  // namespace stoker

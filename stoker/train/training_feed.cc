#include "stoker/train/training_feed.h"

namespace stoker {
namespace {

// There may be more workers and threads of LibTorch than CPUs. Workers have batches in store; a
// computation that is interrupted is time lost.
constexpr int kFeedNiceness = 10;

}  // namespace

FeedOptions training_feed_options(const TrainData& data, const TrainOptions& options,
                                  const Group* group) {
  return {.workers = options.workers,
          .batch_size = options.batch_size,
          .epochs = options.epochs,
          .batches_per_epoch = options.batches_per_epoch,
          .drop_last = options.drop_last,
          .seed = options.seed,
          .rank = group == nullptr ? 0 : static_cast<std::uint32_t>(group->rank()),
          .ranks = group == nullptr ? 1 : static_cast<std::uint32_t>(group->ranks()),
          .normalisation = data.normalisation,
          .framing = {.exact_decode = options.exact_decode},
          .niceness = kFeedNiceness,
          .isolate = options.isolate,
          .on_error = options.on_error,
          .max_errors = options.max_errors,
          .stall_limit = options.stall_limit,
          .on_stall = options.on_stall};
}

}  // namespace stoker

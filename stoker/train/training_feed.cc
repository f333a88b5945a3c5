#include "stoker/train/training_feed.h"

namespace stoker {
namespace {

// There may be more workers and threads of LibTorch than CPUs. Workers have batches in store; a
// computation that is interrupted is time lost.
constexpr int kFeedNiceness = 10;

}  // namespace

FeedOptions training_feed_options(const TrainData& data, const TrainOptions& options,
                                  const Group* group) {
  FeedOptions feed = options.feed;
  if (group != nullptr) {
    feed.rank = static_cast<std::uint32_t>(group->rank());
    feed.ranks = static_cast<std::uint32_t>(group->ranks());
  }
  feed.normalisation = data.normalisation;
  feed.niceness = kFeedNiceness;
  return feed;
}

}  // namespace stoker

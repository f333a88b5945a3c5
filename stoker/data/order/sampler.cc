#include "stoker/data/order/sampler.h"

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"

namespace stoker {

EpochOrder::EpochOrder(std::uint64_t n, std::uint64_t seed, bool shuffle)
    : size_(n), seed_(seed), shuffle_(shuffle) {
  if (n >= 1 && n <= Permutation::kMaxSize) return;
  throw Error({.what = "cannot order the samples",
               .expected = fmt::format("between 1 and {} samples", Permutation::kMaxSize),
               .found = fmt::format("{}", n)});
}

EpochOrder::EpochOrder(const Source& source, std::uint64_t seed, bool shuffle)
    : EpochOrder(source.size(), seed, shuffle) {
  if (auto layout = source.layout()) shards_.emplace(std::move(layout), seed, shuffle);
}

EpochOrder::Reader EpochOrder::reader() const { return Reader(*this); }

EpochOrder::Reader::Reader(const EpochOrder& order) : order_(order) {
  if (order.shards_) shards_.emplace(*order.shards_);
}

ShardsAhead EpochOrder::Reader::take_shards_ahead() {
  if (!shards_ || shards_->windows() == windows_told_) return {};
  windows_told_ = shards_->windows();
  return shards_->shards_ahead();
}

std::uint64_t EpochOrder::Reader::sample_at(std::uint32_t epoch, std::uint64_t position) {
  STOKER_INVARIANT(position < order_.size_, "position={} size={}", position, order_.size_);
  if (shards_) return shards_->sample_at(epoch, position);
  if (!order_.shuffle_) return position;
  if (!permutation_ || epoch_ != epoch) {
    permutation_.emplace(order_.size_, order_.seed_, epoch);
    epoch_ = epoch;
  }
  return (*permutation_)[position];
}

}  // namespace stoker

#include "stoker/data/sampler.h"

#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker {

EpochOrder::EpochOrder(std::uint64_t n, std::uint64_t seed, bool shuffle)
    : size_(n), seed_(seed), shuffle_(shuffle) {
  if (n >= 1 && n <= Permutation::kMaxSize) return;
  throw Error({.what = "cannot order the samples",
               .expected = fmt::format("between 1 and {} samples", Permutation::kMaxSize),
               .found = fmt::format("{}", n)});
}

EpochOrder::Reader EpochOrder::reader() const noexcept { return Reader(*this); }

std::uint64_t EpochOrder::Reader::sample_at(std::uint32_t epoch, std::uint64_t position) {
  STOKER_INVARIANT(position < order_.size_, "position={} size={}", position, order_.size_);
  if (!order_.shuffle_) return position;
  if (!permutation_ || epoch_ != epoch) {
    permutation_.emplace(order_.size_, order_.seed_, epoch);
    epoch_ = epoch;
  }
  return (*permutation_)[position];
}

}  // namespace stoker

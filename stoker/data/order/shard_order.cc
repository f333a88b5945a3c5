#include "stoker/data/order/shard_order.h"

#include <algorithm>

#include "stoker/core/invariant.h"
#include "stoker/core/rng.h"

namespace stoker {

ShardLayout::ShardLayout(std::span<const std::uint64_t> samples_of_shards, std::uint32_t window,
                         std::uint32_t lanes)
    : first_(samples_of_shards.size() + 1),
      window_(window),
      lanes_(std::min(lanes, static_cast<std::uint32_t>(samples_of_shards.size()))) {
  STOKER_INVARIANT(window >= 1 && lanes_ >= 1, "window={} lanes={}", window, lanes);
  for (std::size_t i = 0; i < samples_of_shards.size(); ++i) {
    STOKER_INVARIANT(samples_of_shards[i] > 0, "shard {} is empty", i);
    first_[i + 1] = first_[i] + samples_of_shards[i];
  }
}

ShardLayout::Place ShardLayout::place_of(std::uint64_t index) const noexcept {
  const auto after = std::ranges::upper_bound(first_, index);
  const auto shard = static_cast<std::uint32_t>(after - first_.begin() - 1);
  return {.shard = shard, .sample = index - first_[shard]};
}

ShardOrder::Reader::Reader(ShardOrder order)
    : order_(std::move(order)), lane_count_(order_.shuffle_ ? order_.layout().lanes() : 1) {}

std::uint64_t ShardOrder::Reader::sample_at(std::uint32_t epoch, std::uint64_t position) {
  STOKER_INVARIANT(position < order_.layout().samples(), "position={}", position);
  if (epoch_ != epoch) enter_epoch(epoch);
  std::uint64_t place = position / lane_count_;  // in the lane
  auto number = static_cast<std::uint32_t>(position % lane_count_);
  if (place >= even_) {
    const std::uint64_t rest = position - even_ * lane_count_;
    const auto lane = std::ranges::upper_bound(rest_end_, rest) - rest_end_.begin();
    number = static_cast<std::uint32_t>(lane);
    place = even_ + rest - (lane == 0 ? 0 : rest_end_[static_cast<std::size_t>(lane) - 1]);
  }
  Lane& lane = lanes_[number];
  if (place < lane.begin || place >= lane.end) enter_window(number, place);
  place -= lane.begin;
  if (lane.places) place = (*lane.places)[place];
  // A window has few shards: a walk is as fast as a search.
  const Part* part = lane.parts.data();
  while (place >= part->end) ++part;
  return place + part->first;
}

std::optional<Permutation> ShardOrder::Reader::shards_in(std::uint32_t epoch) const {
  if (!order_.shuffle_) return std::nullopt;
  Rng rng({.seed = order_.seed_, .epoch = epoch, .sample = 0}, kShardStream);
  return Permutation(order_.layout().shards(), rng.next_u64(), epoch);
}

// Shards are dealt out like cards: lane l has places l, l + lanes, l + 2 lanes, …
void ShardOrder::Reader::enter_epoch(std::uint32_t epoch) {
  const ShardLayout& layout = order_.layout();
  shards_ = shards_in(epoch);
  lanes_.assign(lane_count_, {});
  std::vector<std::uint64_t> lengths(lane_count_);
  for (std::uint32_t place = 0; place < layout.shards(); ++place) {
    const std::uint32_t lane = place % lane_count_;
    if (place / lane_count_ % layout.window() == 0) {
      lanes_[lane].window_begin.push_back(lengths[lane]);
    }
    lengths[lane] +=
        layout.samples_of(static_cast<std::uint32_t>(shards_ ? (*shards_)[place] : place));
  }
  even_ = *std::ranges::min_element(lengths);
  rest_end_.clear();
  std::uint64_t rest = 0;
  for (std::uint32_t lane = 0; lane < lane_count_; ++lane) {
    lanes_[lane].window_begin.push_back(lengths[lane]);
    rest_end_.push_back(rest += lengths[lane] - even_);
  }
  epoch_ = epoch;
}

void ShardOrder::Reader::enter_window(std::uint32_t number, std::uint64_t place) {
  const ShardLayout& layout = order_.layout();
  Lane& lane = lanes_[number];
  const auto after = std::ranges::upper_bound(lane.window_begin, place);
  lane.window = static_cast<std::size_t>(after - lane.window_begin.begin() - 1);
  lane.begin = lane.window_begin[lane.window];
  lane.end = lane.window_begin[lane.window + 1];
  lane.parts.clear();
  std::uint64_t end = 0;
  std::vector<std::uint32_t> shards;
  add_window(shards, shards_, number, lane.window);
  for (const std::uint32_t shard : shards) {
    // Unsigned: where it wraps, adding a place wraps it back.
    lane.parts.push_back(
        {.end = end + layout.samples_of(shard), .first = layout.first_of(shard) - end});
    end = lane.parts.back().end;
  }
  if (order_.shuffle_) {
    // A number for every window of every lane.
    const std::uint64_t window = 1 + lane.window * lane_count_ + number;
    Rng rng({.seed = order_.seed_, .epoch = *epoch_, .sample = window}, kShardStream);
    lane.places.emplace(lane.end - lane.begin, rng.next_u64(), *epoch_);
  }
  last_lane_ = number;
  ++windows_;
}

void ShardOrder::Reader::add_window(std::vector<std::uint32_t>& shards,
                                    const std::optional<Permutation>& order, std::uint32_t lane,
                                    std::uint64_t window) const {
  const ShardLayout& layout = order_.layout();
  const std::uint64_t first = window * layout.window();
  for (std::uint64_t i = first; i < first + layout.window(); ++i) {
    const std::uint64_t place = i * lane_count_ + lane;
    if (place >= layout.shards()) return;
    shards.push_back(static_cast<std::uint32_t>(order ? (*order)[place] : place));
  }
}

ShardsAhead ShardOrder::Reader::shards_ahead() const {
  const Lane& lane = lanes_[last_lane_];
  ShardsAhead ahead{.lane = last_lane_};
  add_window(ahead.shards, shards_, last_lane_, lane.window);
  if (lane.window + 2 < lane.window_begin.size()) {
    add_window(ahead.shards, shards_, last_lane_, lane.window + 1);
  } else {
    add_window(ahead.shards, shards_in(*epoch_ + 1), last_lane_, 0);
  }
  return ahead;
}

}  // namespace stoker

// The order of an epoch over shards: shards are permuted and dealt out to lanes; in each lane
// samples are permuted within each window of shards that follow each other; positions take from the
// lanes in turn. So what is read at a time lies in few places, and where there are as many lanes as
// ranks (or a multiple), each rank reads lanes, and so shards, of its own. Every sample comes
// exactly once an epoch, and the order does not depend on the number of ranks.
//
// All permutations are computed, not stored; what is kept is where each window begins (8 bytes a
// window), so a run can start anywhere at once.
//
// ShardLayout and ShardOrder are immutable values. A Reader belongs to one thread. A lookup takes
// some 60 ns, the first of an epoch some 50 ns a shard.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "stoker/core/permutation.h"

namespace stoker {

// How many samples lie in which shard. Sample indices run through the shards in their order.
class ShardLayout {
 public:
  // Each shard has at least one sample; `window` shards of a lane are mixed, at least 1; there are
  // at most as many lanes as shards.
  ShardLayout(std::span<const std::uint64_t> samples_of_shards, std::uint32_t window,
              std::uint32_t lanes = 1);

  struct Place {
    std::uint32_t shard = 0;
    std::uint64_t sample = 0;  // in the shard
  };
  [[nodiscard]] Place place_of(std::uint64_t index) const noexcept;
  [[nodiscard]] std::uint64_t samples() const noexcept { return first_.back(); }
  [[nodiscard]] std::uint32_t shards() const noexcept {
    return static_cast<std::uint32_t>(first_.size() - 1);
  }
  [[nodiscard]] std::uint32_t window() const noexcept { return window_; }
  [[nodiscard]] std::uint32_t lanes() const noexcept { return lanes_; }
  [[nodiscard]] std::uint64_t first_of(std::uint32_t shard) const noexcept { return first_[shard]; }
  [[nodiscard]] std::uint64_t samples_of(std::uint32_t shard) const noexcept {
    return first_[shard + 1] - first_[shard];
  }

 private:
  std::vector<std::uint64_t> first_;  // index of each shard's first sample, and the end
  std::uint32_t window_, lanes_;
};

class ShardOrder {
 public:
  // Without shuffle every epoch is 0, 1, 2, …, in one lane.
  ShardOrder(std::shared_ptr<const ShardLayout> layout, std::uint64_t seed, bool shuffle)
      : layout_(std::move(layout)), seed_(seed), shuffle_(shuffle) {}
  [[nodiscard]] const ShardLayout& layout() const noexcept { return *layout_; }

  class Reader;

 private:
  std::shared_ptr<const ShardLayout> layout_;
  std::uint64_t seed_;
  bool shuffle_;
};

// The shards of a lane that reads come to next.
struct ShardsAhead {
  std::uint32_t lane = 0;
  std::vector<std::uint32_t> shards = {};
};

class ShardOrder::Reader {
 public:
  explicit Reader(ShardOrder order);

  // position < layout().samples()
  [[nodiscard]] std::uint64_t sample_at(std::uint32_t epoch, std::uint64_t position);

  // Of the lane that sample_at() was in last: the shards of its window, and of the one after it,
  // which may be the next epoch's first.
  [[nodiscard]] ShardsAhead shards_ahead() const;
  // Counts the windows entered, of all lanes.
  [[nodiscard]] std::uint64_t windows() const noexcept { return windows_; }

 private:
  struct Part {
    std::uint64_t end = 0;    // places of the window before it belong to this shard or those before
    std::uint64_t first = 0;  // added to the place: the sample's index
  };
  // A lane counts its own samples, from 0.
  struct Lane {
    std::vector<std::uint64_t> window_begin = {};  // and the end of the lane
    std::size_t window = 0;
    std::uint64_t begin = 0, end = 0;  // of the window that is open; none at first
    std::vector<Part> parts = {};
    std::optional<Permutation> places = {};
  };
  [[nodiscard]] std::optional<Permutation> shards_in(std::uint32_t epoch) const;
  void enter_epoch(std::uint32_t epoch);
  void enter_window(std::uint32_t lane, std::uint64_t place);
  void add_window(std::vector<std::uint32_t>& shards, const std::optional<Permutation>& order,
                  std::uint32_t lane, std::uint64_t window) const;

  ShardOrder order_;
  std::uint32_t lane_count_;
  std::optional<std::uint32_t> epoch_;
  std::optional<Permutation> shards_;  // nothing: in their own order
  std::vector<Lane> lanes_;
  std::uint64_t even_ = 0;               // samples that every lane has
  std::vector<std::uint64_t> rest_end_;  // what lanes have beyond that, counted up
  std::uint32_t last_lane_ = 0;
  std::uint64_t windows_ = 0;
};

}  // namespace stoker

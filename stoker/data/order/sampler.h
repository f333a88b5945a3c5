// EpochOrder: which sample comes at which position of which epoch, as arithmetic. Nothing is stored
// per sample, so a run can start at any (epoch, position) at once, and every worker finds the same
// answer without asking another.
//
// A source in shards has an order of its own, by which neighbouring reads lie in few shards
// (shard_order.h); any other source is permuted as a whole.
//
// EpochOrder is an immutable value. A Reader belongs to one thread: it keeps the permutation of the
// epoch that was asked last (about 120 bytes), which is made anew when the epoch changes.
#pragma once

#include <cstdint>
#include <optional>

#include "stoker/core/permutation.h"
#include "stoker/data/order/shard_order.h"
#include "stoker/data/sources/source.h"

namespace stoker {

class EpochOrder {
 public:
  // 1 <= n <= Permutation::kMaxSize, else Error. Without shuffle every epoch is 0, 1, 2, …
  EpochOrder(std::uint64_t n, std::uint64_t seed, bool shuffle);
  // By shards, where the source has them.
  EpochOrder(const Source& source, std::uint64_t seed, bool shuffle);

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  class Reader;
  [[nodiscard]] Reader reader() const;

 private:
  std::uint64_t size_;
  std::uint64_t seed_;
  bool shuffle_;
  std::optional<ShardOrder> shards_;
};

class EpochOrder::Reader {
 public:
  explicit Reader(const EpochOrder& order);

  // The sample's index, in [0, size()). position < size().
  [[nodiscard]] std::uint64_t sample_at(std::uint32_t epoch, std::uint64_t position);
  // The shards that reads come to next, once for every window that sample_at() entered; empty
  // meanwhile, and for sources without shards.
  [[nodiscard]] ShardsAhead take_shards_ahead();

 private:
  EpochOrder order_;
  std::optional<Permutation> permutation_;
  std::uint32_t epoch_ = 0;  // of permutation_
  std::optional<ShardOrder::Reader> shards_;
  std::uint64_t windows_told_ = 0;
};

}  // namespace stoker

// EpochOrder: which sample comes at which position of which epoch, as arithmetic. Nothing is stored
// per sample, so a run can start at any (epoch, position) at once, and every worker finds the same
// answer without asking another.
//
// EpochOrder is an immutable value. A Reader belongs to one thread: it keeps the permutation of the
// epoch that was asked last (about 120 bytes), which is made anew when the epoch changes.
#pragma once

#include <cstdint>
#include <optional>

#include "stoker/core/permutation.h"

namespace stoker {

class EpochOrder {
 public:
  // 1 <= n <= Permutation::kMaxSize, else Error. Without shuffle every epoch is 0, 1, 2, …
  EpochOrder(std::uint64_t n, std::uint64_t seed, bool shuffle);

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  class Reader;
  [[nodiscard]] Reader reader() const noexcept;

 private:
  std::uint64_t size_;
  std::uint64_t seed_;
  bool shuffle_;
};

class EpochOrder::Reader {
 public:
  explicit Reader(const EpochOrder& order) noexcept : order_(order) {}

  // The sample's index, in [0, size()). position < size().
  [[nodiscard]] std::uint64_t sample_at(std::uint32_t epoch, std::uint64_t position);

 private:
  EpochOrder order_;
  std::optional<Permutation> permutation_;
  std::uint32_t epoch_ = 0;  // of permutation_
};

}  // namespace stoker

/// \file
/// BatchPlan: which samples make which batch, as arithmetic. Nothing is stored per sample or batch,
/// so any batch of any epoch can be asked for, at once and by anyone; starting anywhere replays
/// nothing.
///
/// Batches are numbered through all epochs. The global batch b of an epoch holds the positions
/// [b * batch_size, (b + 1) * batch_size) of that epoch's order, the last one what is left; rank r
/// of w takes places r, r + w, … of it. So the union over the ranks does not depend on w.
///
/// An epoch of more batches than the data has makes several passes over it, each in an order of its
/// own. A pass gives its full batches alone and omits the few samples that would begin
/// another: so all samples of a batch are different. Immutable value, safe from any thread.
#pragma once

#include <cstdint>
#include <limits>

#include "stoker/export.h"

namespace stoker {

/// A place in the run. Batches keep their borders: a start inside a batch gives the rest of it.
struct Cursor {
  std::uint32_t epoch = 0;
  std::uint64_t position = 0;  ///< in the epoch's order, over all ranks
  bool operator==(const Cursor&) const = default;
};

/// What a plan is made from.
struct PlanOptions {
  std::uint64_t samples = 0;
  std::uint32_t batch_size = 64;  ///< over all ranks
  /// 0: as many as there are; else the first ones of the order, or of several passes.
  std::uint64_t batches_per_epoch = 0;
  bool drop_last = false;  ///< omit a last batch that is not full
  Cursor begin = {};
  std::uint32_t end_epoch = 1;  ///< the first epoch that is not given any more
  std::uint32_t rank = 0, ranks = 1;
  /// Rank r takes batches r, r + w, … whole, and numbers them by itself from 0: for a reader that
  /// wants the very batches that a single rank would see. Needs as many batches as ranks, and no
  /// start inside.
  bool whole_batches = false;
};

/// The batches of a run, as arithmetic.
class BatchPlan {
 public:
  STOKER_API explicit BatchPlan(
      const PlanOptions& options);  ///< throws Error on options that make no sense

  /// Of this rank, in one batch.
  struct Share {
    std::uint32_t epoch =
        0;  ///< of the order (data/order/sampler.h): passes are counted through the run
    std::uint64_t first_position = 0;  ///< its samples: this one, and every step() positions
    std::uint32_t count = 0;           ///< may be 0: the other ranks got the few that were left
    std::uint32_t step = 1;            ///< from one of its positions to the next
  };
  [[nodiscard]] STOKER_API Share share(std::uint64_t batch) const noexcept;

  [[nodiscard]] std::uint64_t first_batch() const noexcept { return first_batch_; }
  [[nodiscard]] std::uint64_t end_batch() const noexcept { return end_batch_; }
  [[nodiscard]] std::uint64_t batches_per_epoch() const noexcept { return batches_per_epoch_; }
  [[nodiscard]] std::uint64_t samples_per_epoch() const noexcept { return epoch_samples_; }
  [[nodiscard]] std::uint64_t passes_per_epoch() const noexcept { return passes_; }
  /// The most samples that this rank has in a batch.
  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::uint32_t rank() const noexcept { return options_.rank; }
  [[nodiscard]] std::uint32_t ranks() const noexcept { return options_.ranks; }
  /// Between two neighbouring samples of this rank, in positions.
  [[nodiscard]] std::uint32_t step() const noexcept {
    return options_.whole_batches ? 1 : options_.ranks;
  }
  /// Of all ranks together.
  [[nodiscard]] STOKER_API std::uint32_t batch_samples(std::uint64_t batch) const noexcept;
  /// Where a run goes on that has done every batch before `batch`.
  [[nodiscard]] STOKER_API Cursor cursor_before(std::uint64_t batch) const noexcept;
  /// The place in the run of a position of a share's order.
  [[nodiscard]] STOKER_API Cursor cursor_of(std::uint32_t share_epoch,
                                            std::uint64_t position) const noexcept;

 private:
  void plan_passes();
  void number_batches();
  [[nodiscard]] Share placed(std::uint64_t epoch, std::uint64_t position,
                             std::uint64_t count) const noexcept;
  [[nodiscard]] Share whole_batch(std::uint64_t batch) const noexcept;

  PlanOptions options_;
  std::uint64_t epoch_samples_;  ///< samples of an epoch that some rank gets
  std::uint64_t batches_per_epoch_;
  std::uint64_t passes_ = 1;        ///< of an epoch
  std::uint64_t pass_samples_ = 0;  ///< of each, if there are several
  std::uint64_t first_batch_, end_batch_;
  std::uint32_t capacity_;
};

}  // namespace stoker

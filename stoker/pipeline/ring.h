// Ring: K batches that are filled, read and filled again.
//
// Workers: claim() takes the next free place (one atomic add), the worker writes it without any
// lock because the place is its own, finish() counts it; whoever finishes a batch's last place puts
// the batch's number on a channel. Only numbers travel; pixels stay where they were written.
// Reader: take() gives batches in order, whatever the order in which they were finished.
//
// Back-pressure: batch b lies in cell b mod K, and its places can be written only once the reader
// has dropped batch b - K; workers that are too far ahead sleep in claim(). No lost place: the
// claim counter hands out each place once; a worker that claimed one always finishes it, with an
// error noted where it could not fill it.
//
// Threads: claim/finish/fail by any number, take by one, release by any.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "stoker/core/channel.h"
#include "stoker/core/gate.h"
#include "stoker/pipeline/batch.h"
#include "stoker/pipeline/batch_memory.h"
#include "stoker/pipeline/plan.h"

namespace stoker {

class Ring : public std::enable_shared_from_this<Ring> {
 public:
  Ring(const BatchPlan& plan, BatchLayout layout, std::uint32_t batches,
       const MakeBatchMemory& make_memory);

  // One place of one batch, owned by the worker that claimed it.
  struct Claim {
    std::uint64_t batch = 0;
    std::uint32_t slot = 0;
    bool empty = false;  // this rank has no sample in the batch; only finish() is due
    std::uint32_t epoch = 0;
    std::uint64_t position = 0;
    std::span<std::byte> pixels;
    std::int64_t* label = nullptr;
    std::uint64_t* index = nullptr;
  };
  // Waits for room; nothing at the end of the plan and after stop(). Time spent asleep is added
  // to *slept_ns.
  [[nodiscard]] std::optional<Claim> claim(std::uint64_t* slept_ns = nullptr);
  void finish(const Claim& claim);
  // Notes why a place could not be filled; finish() is still due.
  void fail(const Claim& claim, std::exception_ptr error);

  // The next batch in order, or nothing at the end of the plan and after stop(). Rethrows the error
  // of the first place in the batch that has one: which error is seen does not depend on timing.
  [[nodiscard]] std::optional<Batch> take(std::uint64_t* slept_ns = nullptr);
  // Finished batches that the reader has not taken.
  [[nodiscard]] std::uint32_t ready() const noexcept;

  void release(std::uint64_t batch) noexcept;
  // Wakes everybody; claim() and take() give nothing afterwards.
  void stop() noexcept;

  [[nodiscard]] std::uint32_t batches() const noexcept {
    return static_cast<std::uint32_t>(cells_.size());
  }
  [[nodiscard]] const BatchPlan& plan() const noexcept { return plan_; }

 private:
  struct alignas(64) Cell {
    std::atomic<std::uint64_t> writable;    // the batch whose places may be written now
    std::atomic<std::uint32_t> unfinished;  // places still to be finished
    bool ready = false;                     // the reader's: finished, not yet taken
    std::mutex error_mutex;                 // two places may fail at once; never taken otherwise
    std::uint32_t error_slot = 0;
    std::exception_ptr error;
  };

  [[nodiscard]] Cell& cell_of(std::uint64_t batch) noexcept {
    return cells_[batch % cells_.size()];
  }
  [[nodiscard]] BatchSpans spans_of(std::uint64_t batch) noexcept;
  void prepare(Cell& cell, std::uint64_t batch) noexcept;
  [[nodiscard]] Claim claim_at(std::uint64_t batch, std::uint32_t slot,
                               const BatchPlan::Share& share) noexcept;

  BatchPlan plan_;
  BatchLayout layout_;
  std::size_t bytes_per_batch_;
  std::unique_ptr<BatchMemory> memory_;
  std::vector<Cell> cells_;
  alignas(64) std::atomic<std::uint64_t> next_place_{0};
  alignas(64) std::atomic<bool> stopped_{false};
  Gate has_room_;
  Channel<std::uint64_t> finished_;  // as many elements as cells, so put() never waits
  std::uint64_t next_batch_;         // the reader's: what take() gives next
  std::uint32_t ready_ahead_ = 0;    // the reader's: ready cells that are not their turn yet
};

}  // namespace stoker

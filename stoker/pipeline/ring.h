// Ring: K batches that are filled, read and filled again.
//
// Workers: reserve() takes the next run of places of a batch (one atomic add), open() waits until
// its memory is free, the worker writes the places without any lock because they are its own,
// finish() counts them; whoever finishes a batch's last place puts the batch's number on a channel.
// Only numbers travel; pixels stay where they were written.
//
// Reader: take() gives batches in order, whatever the order in which they were finished.
//
// A run is one place for large samples, and a few for small ones: two cores that change a counter
// in turn wait about 0.1 us each time, a tenth of what a 28x28 image costs.
//
// Back-pressure: batch b lies in cell b mod K, and its places can be written only once the reader
// has dropped batch b - K; workers that are too far ahead sleep in open().
//
// Held batches: with held_bytes, take() detaches a batch that the reader still holds when half of
// the ring has been given after it. The batch keeps its memory, and the cell gets a spare block.
// `held` decides between release() and detaching: whoever clears it owns the cell.
//
// No lost place: the counter hands out each run once; a worker that reserved one always opens and
// finishes it, with an error noted for a place that it could not fill.
//
// No deadlock: a worker may have one run open and the next one reserved, to know early what it will
// need; it must finish the first before it opens the second, since open() may wait for the reader,
// and the reader for the first.
//
// Threads: reserve/open/finish/fail by any number, take by one, release by any.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "stoker/core/channel.h"
#include "stoker/core/error.h"
#include "stoker/core/gate.h"
#include "stoker/pipeline/batch.h"
#include "stoker/pipeline/batch_memory.h"
#include "stoker/pipeline/plan.h"
#include "stoker/pipeline/spare_blocks.h"

namespace stoker {

class Ring : public std::enable_shared_from_this<Ring> {
 public:
  // The name of a sample, by its index.
  using NameOf = std::function<std::string(std::uint64_t)>;

  struct Options {
    std::uint32_t batches = 4;
    int workers = 1;  // runs are short enough that this many of them share every batch
    MakeBatchMemory make_memory = host_batch_memory;
    NameOf name_of = {};
    std::size_t held_bytes = 0;  // of further memory, for batches that the reader holds for long
    bool reserve_held = false;   // spare_blocks.h
  };
  Ring(const BatchPlan& plan, BatchContents shape, const Options& options);

  // Neighbouring places of one batch.
  struct Run {
    std::uint64_t batch = 0;
    std::uint32_t first_slot = 0;
    std::uint32_t count = 0;  // 0: no sample of this rank; open() and finish() are due all the same
    std::uint32_t epoch = 0;
    std::uint64_t first_position = 0;  // in the epoch's order; the next is step() further
  };
  // Never waits; nothing at the end of the plan.
  [[nodiscard]] std::optional<Run> reserve();
  // Waits for room; false after stop(). Time spent asleep is added to *slept_ns.
  [[nodiscard]] bool open(const Run& run, std::uint64_t* slept_ns = nullptr);

  // The memory of place i of an open run.
  struct Place {
    std::span<std::byte> pixels;  // of all views
    std::int64_t* label;
    std::uint64_t* index;
  };
  [[nodiscard]] Place place(const Run& run, std::uint32_t i) noexcept;
  // Writes the numbers of the source's fields, which stand one field after the other.
  void put_numbers(const Run& run, std::uint32_t i, std::span<const float> numbers) noexcept;
  // Brings a place's memory near for writing, if it is free already. Another worker wrote it last,
  // so it lies in that one's cache; fetched early, the fetch overlaps with work.
  void prefetch(const Run& run, std::uint32_t i) noexcept;

  // Notes why place i could not be filled; finish() is still due.
  void fail(const Run& run, std::uint32_t i, std::exception_ptr error);
  void finish(const Run& run);

  // The next batch in order, or nothing at the end of the plan and after stop(). Rethrows the error
  // of the first place in the batch that has one: which error is seen does not depend on timing.
  [[nodiscard]] std::optional<Batch> take(std::uint64_t* slept_ns = nullptr);
  // Whether take() would return or throw at once; waits for that until the deadline.
  [[nodiscard]] bool wait_until(Gate::Clock::time_point deadline,
                                std::uint64_t* slept_ns = nullptr);
  // Finished batches that the reader has not taken.
  [[nodiscard]] std::uint32_t ready() const noexcept;

  // `memory` is what take() gave the batch.
  void release(std::uint64_t batch, std::byte* memory) noexcept;
  // Blocks that exist besides those of the cells.
  [[nodiscard]] std::size_t spare_blocks() const { return spare_.made(); }
  // Wakes everybody; open() and take() give nothing afterwards.
  void stop() noexcept;

  [[nodiscard]] std::uint32_t places_per_run() const noexcept { return places_per_run_; }
  [[nodiscard]] std::uint32_t batches() const noexcept {
    return static_cast<std::uint32_t>(cells_.size());
  }
  [[nodiscard]] const BatchPlan& plan() const noexcept { return plan_; }
  [[nodiscard]] const BatchLayout& layout() const noexcept { return *layout_; }
  [[nodiscard]] std::string name_of(std::uint64_t index) const { return name_of_(index); }

 private:
  struct alignas(64) Cell {
    std::atomic<std::uint64_t> writable;    // the batch whose places may be written now
    std::atomic<std::uint32_t> unfinished;  // places still to be finished
    std::atomic<std::uint64_t> held{0};     // 1 + the batch that the reader has; 0: none
    std::byte* memory = nullptr;            // changes only before `writable` does
    bool ready = false;                     // the reader's: finished, not yet taken
    std::mutex error_mutex;                 // two places may fail at once; never taken otherwise
    std::uint32_t error_slot = 0;
    std::exception_ptr error;
  };

  [[nodiscard]] Cell& cell_of(std::uint64_t batch) noexcept {
    return cells_[batch % cells_.size()];
  }
  [[nodiscard]] std::byte* memory_of(std::uint64_t batch) noexcept { return cell_of(batch).memory; }
  void prepare(Cell& cell, std::uint64_t batch) noexcept;
  // Makes the cell of this batch free for it. False where the batch that lies there is held and
  // there is no more memory.
  [[nodiscard]] bool make_room(std::uint64_t batch);
  void make_room_ahead() noexcept;
  // Moves numbers from the channel until that cell is ready; false at the deadline and after
  // stop().
  [[nodiscard]] bool collect(const Cell& cell, Gate::Clock::time_point deadline,
                             std::uint64_t* slept_ns);
  [[nodiscard]] Error no_room() const;

  BatchPlan plan_;
  std::shared_ptr<const BatchLayout> layout_;  // batches that outlive the ring's user have it too
  NameOf name_of_;
  std::unique_ptr<BatchMemory> memory_;
  SpareBlocks spare_;
  std::vector<Cell> cells_;
  std::uint32_t places_per_run_, runs_per_batch_;
  alignas(64) std::atomic<std::uint64_t> next_run_{0};
  alignas(64) std::atomic<bool> stopped_{false};
  Gate has_room_;
  Channel<std::uint64_t> finished_;  // as many elements as cells, so put() never waits
  std::uint64_t next_batch_;         // the reader's: what take() gives next
  std::uint32_t ready_ahead_ = 0;    // the reader's: ready cells that are not their turn yet
};

}  // namespace stoker

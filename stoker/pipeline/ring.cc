#include "stoker/pipeline/ring.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"

namespace stoker {
namespace {

void check_size(const BatchLayout& layout, std::uint32_t batches) {
  if (layout.bytes() > std::numeric_limits<std::size_t>::max() / 2 / batches) {
    throw Error({.what = "the batches in flight are too large for this machine's addresses",
                 .hint = "A smaller batch or fewer batches in flight need less"});
  }
}

// Small samples come in runs, but each worker gets at least two runs of a batch.
std::uint32_t run_length(const BatchLayout& layout, std::uint32_t workers) {
  constexpr std::size_t kRunBytes = 16 << 10, kMostPlaces = 16;
  const auto by_size = static_cast<std::uint32_t>(std::clamp<std::size_t>(
      kRunBytes / (layout.image().bytes() * layout.views()), 1, kMostPlaces));
  return std::clamp(layout.capacity() / (2 * workers), 1U, by_size);
}

constexpr std::size_t kMostPrefetched = 8 << 10;  // more would push out what is being worked on

void prefetch_for_writing(const std::byte* line) noexcept {
#if defined(__x86_64__)
  // The compiler would emit a prefetch for reading unless it may assume a newer CPU; older ones
  // take this instruction as no operation.
  asm volatile("prefetchw %0" : : "m"(*line));
#else
  __builtin_prefetch(line, 1);
#endif
}

template <class Ready>
void timed_wait(Gate& gate, std::uint64_t* slept_ns, Ready ready) {
  if (ready()) return;  // the usual case pays no clock
  const auto start = std::chrono::steady_clock::now();
  gate.wait(ready);
  if (slept_ns != nullptr) {
    *slept_ns += static_cast<std::uint64_t>((std::chrono::steady_clock::now() - start).count());
  }
}

}  // namespace

Ring::Ring(const BatchPlan& plan, BatchContents shape, const Options& options)
    : plan_(plan),
      layout_(std::make_shared<BatchLayout>(std::move(shape), plan.capacity())),
      name_of_(options.name_of),
      spare_({.block_bytes = layout_->bytes(),
              .most_bytes = options.held_bytes,
              .kept = options.batches,
              .make_memory = options.make_memory,
              .reserved = options.reserve_held}),
      cells_(options.batches),
      finished_(options.batches),
      next_batch_(plan.first_batch()) {
  const std::uint32_t batches = options.batches;
  STOKER_INVARIANT(batches > 0 && options.workers > 0, "{} batches, {} workers", batches,
                   options.workers);
  check_size(*layout_, batches);
  places_per_run_ = run_length(*layout_, static_cast<std::uint32_t>(options.workers));
  runs_per_batch_ = (layout_->capacity() + places_per_run_ - 1) / places_per_run_;
  memory_ = options.make_memory(layout_->bytes() * batches);
  STOKER_INVARIANT(memory_ != nullptr && memory_->bytes().size() >= layout_->bytes() * batches,
                   "{} batches of {} bytes", batches, layout_->bytes());
  for (std::uint64_t batch = plan.first_batch(); batch < plan.first_batch() + batches; ++batch) {
    Cell& cell = cell_of(batch);
    cell.memory = memory_->bytes().data() + batch % batches * layout_->bytes();
    prepare(cell, batch);
  }
}

void Ring::prepare(Cell& cell, std::uint64_t batch) noexcept {
  cell.unfinished.store(std::max(1U, plan_.share(batch).count), std::memory_order_relaxed);
  // Publishes the count to the workers, and tells them that the memory is theirs.
  cell.writable.store(batch);
}

std::optional<Ring::Run> Ring::reserve() {
  while (true) {
    // Relaxed: the counter only has to give each number once; `writable` orders the memory.
    const std::uint64_t number = next_run_.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t batch = plan_.first_batch() + number / runs_per_batch_;
    if (batch >= plan_.end_batch()) return std::nullopt;
    // A short batch has fewer runs than numbers; an empty one has a single run, so that somebody
    // finishes it.
    const BatchPlan::Share share = plan_.share(batch);
    const auto first_slot = static_cast<std::uint32_t>(number % runs_per_batch_) * places_per_run_;
    if (first_slot >= std::max(1U, share.count)) continue;
    return Run{.batch = batch,
               .first_slot = first_slot,
               .count = std::min(places_per_run_, share.count - first_slot),
               .epoch = share.epoch,
               .first_position = share.first_position + std::uint64_t{first_slot} * plan_.step()};
  }
}

bool Ring::open(const Run& run, std::uint64_t* slept_ns) {
  const Cell& cell = cell_of(run.batch);
  timed_wait(has_room_, slept_ns,
             [&] { return stopped_.load() || cell.writable.load() == run.batch; });
  return !stopped_.load();
}

Ring::Place Ring::place(const Run& run, std::uint32_t i) noexcept {
  std::byte* base = memory_of(run.batch);
  const std::size_t slot = run.first_slot + i, bytes = layout_->pixel_bytes();
  const auto fields = layout_->fields();
  return {.pixels = {base + slot * bytes, bytes},
          .label = reinterpret_cast<std::int64_t*>(base + fields[1].offset) + slot,
          .index = reinterpret_cast<std::uint64_t*>(base + fields[2].offset) + slot};
}

void Ring::put_numbers(const Run& run, std::uint32_t i, std::span<const float> numbers) noexcept {
  std::byte* base = memory_of(run.batch);
  const std::size_t slot = run.first_slot + i;
  for (const BatchField& field : layout_->fields().subspan(3)) {
    const std::size_t count = field.bytes_per_sample / sizeof(float);
    std::memcpy(base + field.offset + slot * field.bytes_per_sample, numbers.data(),
                field.bytes_per_sample);
    numbers = numbers.subspan(count);
  }
}

void Ring::prefetch(const Run& run, std::uint32_t i) noexcept {
  // Acquires the cell's memory, which may have been exchanged.
  if (cell_of(run.batch).writable.load(std::memory_order_acquire) != run.batch) return;
  const auto pixels = place(run, i).pixels;
  const std::size_t bytes = std::min(pixels.size(), kMostPrefetched);
  for (std::size_t byte = 0; byte < bytes; byte += 64) prefetch_for_writing(pixels.data() + byte);
}

void Ring::fail(const Run& run, std::uint32_t i, std::exception_ptr error) {
  Cell& cell = cell_of(run.batch);
  const std::uint32_t slot = run.first_slot + i;
  const std::lock_guard lock(cell.error_mutex);
  if (cell.error != nullptr && cell.error_slot < slot) return;
  cell.error = std::move(error);
  cell.error_slot = slot;
}

void Ring::finish(const Run& run) {
  const std::uint32_t places = std::max(1U, run.count);
  // Releases these places' bytes, and acquires those of the others for whoever is last.
  const std::uint32_t before =
      cell_of(run.batch).unfinished.fetch_sub(places, std::memory_order_acq_rel);
  if (before == places) finished_.put(run.batch);
}

Error Ring::no_room() const {
  if (spare_.most_bytes() == 0) {
    return Error({.what = "no memory is left for the next batch",
                  .expected = fmt::format("the batch given {} batches ago to be dropped by now",
                                          cells_.size()),
                  .found = "it is still held",
                  .hint = "Hold fewer batches, or allow more in flight (ring_batches)"});
  }
  return Error({.what = "no memory is left for the next batch",
                .expected = fmt::format("at most {:.1f} MB of batches that are still held",
                                        static_cast<double>(spare_.most_bytes()) / 1e6),
                .found = fmt::format("as many as fit in there, of {:.1f} MB each",
                                     static_cast<double>(layout_->bytes()) / 1e6),
                .hint = "Hold fewer batches, or allow them more memory (held_bytes)"});
}

bool Ring::make_room(std::uint64_t batch) {
  if (batch < plan_.first_batch() + cells_.size() || batch >= plan_.end_batch()) return true;
  Cell& cell = cell_of(batch);
  std::uint64_t held = batch - cells_.size() + 1;
  if (cell.held.load() != held) return true;  // dropped, or just now
  std::byte* block = spare_.take();
  if (block == nullptr) return false;
  if (!cell.held.compare_exchange_strong(held, 0)) {  // dropped meanwhile
    spare_.give_back(block);
    return true;
  }
  cell.memory = block;
  prepare(cell, batch);
  has_room_.notify_all();
  return true;
}

// Half of the ring stays for the workers. If that fails, it matters only once take() comes there.
void Ring::make_room_ahead() noexcept {
  if (spare_.most_bytes() == 0) return;
  try {
    static_cast<void>(make_room(next_batch_ + cells_.size() / 2));
  } catch (const std::exception&) {
  }
}

bool Ring::collect(const Cell& cell, Gate::Clock::time_point deadline, std::uint64_t* slept_ns) {
  while (!cell.ready) {
    auto number = finished_.try_get();
    if (!number) {
      const auto start = std::chrono::steady_clock::now();
      number = finished_.get_until(deadline);
      if (slept_ns != nullptr) {
        *slept_ns += static_cast<std::uint64_t>((std::chrono::steady_clock::now() - start).count());
      }
    }
    if (!number) return false;
    cell_of(*number).ready = true;
    ++ready_ahead_;
  }
  return true;
}

bool Ring::wait_until(Gate::Clock::time_point deadline, std::uint64_t* slept_ns) {
  if (next_batch_ >= plan_.end_batch() || stopped_.load() || !make_room(next_batch_)) return true;
  make_room_ahead();
  return collect(cell_of(next_batch_), deadline, slept_ns) || stopped_.load();
}

std::optional<Batch> Ring::take(std::uint64_t* slept_ns) {
  if (next_batch_ >= plan_.end_batch()) return std::nullopt;
  if (!stopped_.load() && !make_room(next_batch_)) throw no_room();
  make_room_ahead();
  Cell& cell = cell_of(next_batch_);
  if (!collect(cell, Gate::Clock::time_point::max(), slept_ns)) return std::nullopt;  // stopped
  if (stopped_.load()) return std::nullopt;
  // No lock: every worker has finished with this batch, and the channel ordered that before us.
  if (cell.error != nullptr) std::rethrow_exception(cell.error);
  cell.ready = false;
  --ready_ahead_;
  const std::uint64_t number = next_batch_++;
  cell.held.store(number + 1);
  return Batch(shared_from_this(), number, plan_.share(number), layout_, cell.memory);
}

std::uint32_t Ring::ready() const noexcept {
  return ready_ahead_ + static_cast<std::uint32_t>(finished_.length());
}

void Ring::release(std::uint64_t batch, std::byte* memory) noexcept {
  Cell& cell = cell_of(batch);
  std::uint64_t held = batch + 1;
  if (!cell.held.compare_exchange_strong(held, 0)) {
    spare_.give_back(memory);  // it was detached
    return;
  }
  prepare(cell, batch + cells_.size());
  has_room_.notify_all();
}

void Ring::stop() noexcept {
  stopped_.store(true);
  has_room_.notify_all();
  finished_.close();
}

}  // namespace stoker

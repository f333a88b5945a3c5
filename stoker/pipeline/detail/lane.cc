#include "stoker/pipeline/detail/lane.h"

#include <algorithm>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker::detail {
namespace {

constexpr std::size_t kKeptBytes = std::size_t{8} << 20;  // of an input, after a larger file
constexpr const char* kPurpose = "the input of a worker process";

}  // namespace

Lane::Lane(WorkerActivity& activity)
    : board_memory_(sizeof(JobBoard), "a worker process"),
      board_(new (board_memory_.bytes().data()) JobBoard),
      activity_(activity) {
  for (std::size_t i = 0; i < kSlots; ++i) inputs_.emplace_back(kMostEncodedBytes, kPurpose);
}

std::optional<std::size_t> Lane::claim_slot() {
  std::unique_lock lock(mutex_);
  if (free_slots() == 0) {
    slots_free_.wait(lock, [this] { return stopping_ || free_slots() >= kSlots / 2; });
  }
  if (stopping_) return std::nullopt;
  const auto slot = std::ranges::find(claimed_, false);
  *slot = true;
  return static_cast<std::size_t>(slot - claimed_.begin());
}

void Lane::release_slot(std::size_t slot) {
  {
    const std::lock_guard lock(mutex_);
    claimed_[slot] = false;
    if (free_slots() < kSlots / 2) return;
  }
  slots_free_.notify_one();
}

std::size_t Lane::free_slots() const {
  return static_cast<std::size_t>(std::ranges::count(claimed_, false));
}

std::span<std::byte> Lane::input(std::size_t slot, std::size_t bytes) {
  if (bytes > kMostEncodedBytes) {
    throw Error({.what = "the file is too large for a worker process",
                 .expected = fmt::format("at most {} MB", kMostEncodedBytes >> 20),
                 .found = fmt::format("{} bytes", bytes)});
  }
  // One large file should not keep its memory for the rest of the run.
  if (bytes <= kKeptBytes && touched_[slot] > kKeptBytes) {
    inputs_[slot].discard_from(kKeptBytes);
    touched_[slot] = kKeptBytes;
  }
  touched_[slot] = std::max(touched_[slot], bytes);
  return inputs_[slot].bytes().first(bytes);
}

void Lane::post(Flight flight, std::span<std::byte> pixels) {
  const std::lock_guard lock(mutex_);
  flight.serial = next_serial_++;
  board_->jobs[posted_ % JobBoard::kEntries] = {
      .serial = flight.serial,
      .index = flight.job.index,
      .epoch = flight.job.run.epoch,
      .timed = flight.timed,
      .encoded = inputs_[flight.slot].bytes().first(flight.bytes),
      .pixels = pixels};
  board_->posted.store(++posted_);
  board_->gate.notify_all();
  flights_.push_back(flight);
  if (flights_.size() == 1) begin_next();
}

bool Lane::has_more_to_do() const {
  const std::lock_guard lock(mutex_);
  return flights_.size() > 1;
}

std::optional<Flight> Lane::take(std::uint64_t serial) {
  const std::lock_guard lock(mutex_);
  if (flights_.empty() || flights_.front().serial != serial) return std::nullopt;
  const Flight flight = flights_.front();
  flights_.pop_front();
  begin_next();
  return flight;
}

std::vector<Flight> Lane::take_all() {
  const std::lock_guard lock(mutex_);
  std::vector<Flight> flights(flights_.begin(), flights_.end());
  flights_.clear();
  begin_next();
  posted_ = 0;
  new (board_) JobBoard;  // the dead process may have left anything there
  return flights;
}

// The process turns to the first flight, if there is one.
void Lane::begin_next() {
  busy_ = Duration{0};
  passed_ = false;
  activity_.begun.fetch_add(1, std::memory_order_relaxed);
  activity_.sample.store(flights_.empty() ? WorkerActivity::kNone : flights_.front().job.index,
                         std::memory_order_release);
}

std::optional<std::uint64_t> Lane::overdue(Duration elapsed, Duration limit) {
  const std::lock_guard lock(mutex_);
  if (flights_.empty() || passed_) return std::nullopt;
  busy_ += elapsed;
  if (busy_ <= limit) return std::nullopt;
  passed_ = true;
  return flights_.front().serial;
}

void Lane::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  slots_free_.notify_all();
}

void Lane::unmap() noexcept {
  board_memory_.unmap();
  for (SharedMemory& input : inputs_) input.unmap();
}

}  // namespace stoker::detail

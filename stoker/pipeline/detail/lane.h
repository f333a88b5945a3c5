// Lane: the program's side of one worker process: the memory it shares with that process, and what
// the process has been given and has not reported yet.
//
// Every member function may be called by any thread; `input` of a slot belongs to whoever claimed
// it.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "stoker/core/shared_memory.h"
#include "stoker/pipeline/detail/isolated_child.h"
#include "stoker/pipeline/detail/jobs.h"
#include "stoker/pipeline/watchdog.h"

namespace stoker::detail {

// A sample on its way through a process.
struct Flight {
  Job job;  // of a single place
  std::size_t slot = 0;
  std::uint64_t serial = 0;  // given by post()
  std::size_t bytes = 0;     // of its file, in the slot's input
  bool timed = false;
  bool was_killed = false;  // a process that was at it, from outside
  std::chrono::nanoseconds read_time{0};
};

class Lane {
 public:
  using Duration = std::chrono::steady_clock::duration;
  static constexpr std::size_t kMostEncodedBytes = std::size_t{256} << 20;

  explicit Lane(WorkerActivity& activity);

  // Waits, where no slot is free, until half of them are; nothing after stop().
  [[nodiscard]] std::optional<std::size_t> claim_slot();
  void release_slot(std::size_t slot);
  // Memory for a file of that size; throws Error where it is too large.
  [[nodiscard]] std::span<std::byte> input(std::size_t slot, std::size_t bytes);

  // Puts it on the board.
  void post(Flight flight, std::span<std::byte> pixels);
  // Beside the sample that the process is at.
  [[nodiscard]] bool has_more_to_do() const;
  // The process has reported this one. Nothing where it is not the one it is at: the report is
  // stale or a lie.
  [[nodiscard]] std::optional<Flight> take(std::uint64_t serial);
  // The process is dead. Clears the board for the next one and gives what it had, the one that it
  // was at first.
  [[nodiscard]] std::vector<Flight> take_all();

  // Adds to the time that the process has been at its sample. Gives its serial once, when it passes
  // the limit.
  [[nodiscard]] std::optional<std::uint64_t> overdue(Duration elapsed, Duration limit);

  void stop();
  [[nodiscard]] JobBoard& board() noexcept { return *board_; }
  // In a worker process: this is another one's.
  void unmap() noexcept;

 private:
  void begin_next();
  [[nodiscard]] std::size_t free_slots() const;

  SharedMemory board_memory_;
  JobBoard* board_;                            // lies in board_memory_
  std::deque<SharedMemory> inputs_;            // one for each slot
  std::array<std::size_t, kSlots> touched_{};  // the largest file in each
  WorkerActivity& activity_;

  mutable std::mutex mutex_;
  std::condition_variable slots_free_;
  bool stopping_ = false;
  std::array<bool, kSlots> claimed_{};
  std::deque<Flight> flights_;  // in the order of the board; the process is at the first
  std::uint64_t posted_ = 0;    // the board's count, which only we change but anybody could
  std::uint64_t next_serial_ = 1;
  Duration busy_{0};  // with the first
  bool passed_ = false;
};

}  // namespace stoker::detail

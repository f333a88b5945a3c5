// What a worker process does: takes assignments from its board in shared memory, makes samples
// straight into the batches' memory, and reports each through the queue. It is locked down before
// it looks at its board.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "stoker/core/gate.h"
#include "stoker/core/pipe_queue.h"
#include "stoker/pipeline/detail/sample_maker.h"

namespace stoker::detail {

// A sample to be made. Pointers mean the same in all processes: the memory was mapped before the
// first fork.
struct Assignment {
  std::uint64_t serial = 0;
  std::uint64_t index = 0;
  std::uint32_t epoch = 0;
  bool timed = false;
  std::span<const std::byte> encoded;
  std::span<std::byte> pixels;
};

// The bytes of this many files fit at once: one that is worked on, and the next ones. So the
// process need not wait for anybody between two samples, and the program's threads need not wake up
// for each. The board has more entries than that, so an entry is never written while it is read.
inline constexpr std::size_t kSlots = 6;

// Written by the program, read by one worker process.
struct JobBoard {
  static constexpr std::size_t kEntries = 2 * kSlots;
  Gate gate;
  std::atomic<std::uint64_t> posted{0};  // entry k is jobs[k % kEntries]
  std::array<Assignment, kEntries> jobs;
};

// What comes back. The program believes none of it without a look: it may come from a process that
// a hostile file has taken over.
struct Report {
  enum class Outcome : std::uint32_t { kMade, kFailed, kCannotStart };
  std::uint32_t worker = 0;
  Outcome outcome = Outcome::kMade;
  std::uint64_t serial = 0;
  std::int64_t label = 0;
  std::int64_t read_ns = 0, augment_ns = 0, write_ns = 0;
  char reason[1000] = {};  // where it failed; ends with 0
};

struct ChildSetup {
  std::uint32_t worker = 0;
  JobBoard* board = nullptr;
  PipeQueue<Report>* queue = nullptr;
  std::size_t memory_limit = 0;
  int niceness = 0;
};

// With which a process ends that was asked for nothing wrong but must not go on: it ran out of
// memory, and whatever took it may still have it.
inline constexpr int kRetired = 64;

[[noreturn]] void run_isolated_child(const ChildSetup& setup, const SampleRecipe& recipe) noexcept;

}  // namespace stoker::detail

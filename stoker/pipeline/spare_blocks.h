// SpareBlocks: memory for batches beyond those of the ring, for a reader that holds batches for
// long. A block is made when it is first needed and kept for the next time. All of them together
// have a limit in bytes.
//
// With `reserved` memory, which processes forked before share, no block can be made later: all lie
// in one reservation, of which the system gives pages when they are first written.
//
// take() by the reader; give_back() by any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "stoker/pipeline/batch_memory.h"

namespace stoker {

class SpareBlocks {
 public:
  struct Options {
    std::size_t block_bytes = 1;
    std::size_t most_bytes = 0;  // of blocks that exist at a time
    std::size_t kept = 0;        // free blocks that are kept; more are given to the system
    MakeBatchMemory make_memory = {};
    bool reserved = false;
  };
  // Throws Error where the reservation cannot be had.
  explicit SpareBlocks(Options options);

  // Null where the limit is reached. Throws Error where the system has no memory.
  [[nodiscard]] std::byte* take();
  // Also blocks that were not made here.
  void give_back(std::byte* block) noexcept;

  [[nodiscard]] std::size_t most_bytes() const noexcept { return options_.most_bytes; }
  // Blocks that were made and are not given to the system yet.
  [[nodiscard]] std::size_t made() const;

 private:
  void reserve_all();
  [[nodiscard]] std::byte* make();

  Options options_;
  std::size_t most_blocks_;
  std::unique_ptr<BatchMemory> reservation_;
  mutable std::mutex mutex_;  // rarely taken: only for batches that were held for long
  std::vector<std::byte*> free_;
  std::unordered_map<std::byte*, std::unique_ptr<BatchMemory>> made_;
};

}  // namespace stoker

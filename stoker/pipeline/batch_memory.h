/// \file
/// The memory of the batches in flight, behind an interface: plain host memory and
/// memory shared between processes here; memory that a CUDA device copies from is another.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "stoker/export.h"

namespace stoker {

/// Memory for all batches in flight.
class STOKER_API BatchMemory {
 public:
  virtual ~BatchMemory() = default;
  /// Aligned to kBatchAlignment; stays where it is for the object's life.
  [[nodiscard]] virtual std::span<std::byte> bytes() noexcept = 0;
};

inline constexpr std::size_t kBatchAlignment = 64;  ///< a cache line, and the widest vector

/// Makes memory of at least one byte; throws Error with the size where it cannot be had.
using MakeBatchMemory = std::function<std::unique_ptr<BatchMemory>(std::size_t bytes)>;

/// Ordinary memory of this process.
[[nodiscard]] STOKER_API std::unique_ptr<BatchMemory> host_batch_memory(std::size_t bytes);
/// Processes forked later see it too, at the same address.
[[nodiscard]] STOKER_API std::unique_ptr<BatchMemory> shared_batch_memory(std::size_t bytes);

}  // namespace stoker

// Which processes belong together. A store may outlive the ranks that meet at it (torchrun's agent
// keeps one through all restarts), and launchers on several machines count their restarts apart. So
// ranks do not rely on what a launcher says: rank 0 names the attempt, and every other process that
// asks in person gets that name.
#pragma once

#include <chrono>
#include <string>

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace stoker::detail {

// The same name on all ranks, never used before; a prefix for their keys. Throws what the store
// throws, and std::runtime_error where not all have come in time.
[[nodiscard]] std::string agree_on_attempt(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                           int ranks, std::chrono::milliseconds timeout);

}  // namespace stoker::detail

// How much memory this process may use: what the machine has, or less where a control group (a
// container, a job of a cluster) allows less. Beyond it the kernel ends the process.
#pragma once

#include <cstdint>

#include "stoker/core/cgroups.h"

namespace stoker {

// Reads a few small files.
[[nodiscard]] std::uint64_t memory_limit(const CgroupPlaces& places = {});

}  // namespace stoker

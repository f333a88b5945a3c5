#include "stoker/core/memory_limit.h"

#include <unistd.h>

namespace stoker {

std::uint64_t memory_limit(const CgroupPlaces& places) {
  const std::uint64_t physical = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                                 static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto limit = smallest_cgroup_limit(
      places, "memory",
      [](const auto& group) {
        return positive_number(cgroup_line(group / "memory.limit_in_bytes"));
      },
      [](const auto& group) { return positive_number(cgroup_line(group / "memory.max")); });
  // v1 writes a huge number for "no limit".
  if (!limit || *limit >= static_cast<double>(physical)) return physical;
  return static_cast<std::uint64_t>(*limit);
}

}  // namespace stoker

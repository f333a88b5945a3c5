// Temporary files of processes that were killed: `.stoker-PID-N.tmp` (atomic_file.h) and folders
// `stoker-shards-PID-XXXXXX`. Functions without state.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace stoker {

// The number of the process that a name like those carries; 0 where it is none.
[[nodiscard]] int process_of_temporary(std::string_view name);

// Removes those in `folder` whose process no longer runs on this machine, and returns how many.
// Only for folders that one machine writes to. What cannot be removed stays.
std::size_t remove_abandoned_files(const std::filesystem::path& folder);

}  // namespace stoker

// How paths are written into a list or table that lies elsewhere than what they start at.
#pragma once

#include <filesystem>
#include <string>

namespace stoker::detail {

// What a path below `root` begins with when seen from the folder of `file`: "" or "…/". Links are
// resolved, because ".." after a link leads to where the link's target lies.
[[nodiscard]] std::string relative_prefix(const std::filesystem::path& file,
                                          const std::filesystem::path& root);

}  // namespace stoker::detail

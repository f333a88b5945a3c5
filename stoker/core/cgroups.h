// Limits of the control groups that this process is in (v1 and v2): those of its own group and of
// every group above it bind, so the smallest counts.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace stoker {

// Where they are read from; tests put their own in place.
struct CgroupPlaces {
  std::filesystem::path proc_cgroup = "/proc/self/cgroup";
  std::filesystem::path root = "/sys/fs/cgroup";
};

// Reads the limit of one group from its folder; nothing where it has none.
using CgroupLimit = std::function<std::optional<double>(const std::filesystem::path& group)>;

// `controller` is that of v1 ("cpu"); v2 has one tree for all.
[[nodiscard]] std::optional<double> smallest_cgroup_limit(const CgroupPlaces& places,
                                                          std::string_view controller,
                                                          const CgroupLimit& v1,
                                                          const CgroupLimit& v2);

// The first line of a group's file; empty where there is none.
[[nodiscard]] std::string cgroup_line(const std::filesystem::path& file);
// A number above 0 at the beginning of the text; "max" and "-1" are none.
[[nodiscard]] std::optional<double> positive_number(std::string_view text);

}  // namespace stoker

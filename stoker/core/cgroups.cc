#include "stoker/core/cgroups.h"

#include <charconv>
#include <fstream>

namespace stoker {
namespace {

namespace fs = std::filesystem;

void take_smaller(std::optional<double>& smallest, std::optional<double> other) {
  if (other && (!smallest || *other < *smallest)) smallest = other;
}

// Of the group and its parents.
std::optional<double> smallest_above(const fs::path& root, std::string_view group,
                                     const CgroupLimit& limit_of) {
  std::optional<double> smallest;
  fs::path relative = fs::path(group).relative_path();
  while (true) {
    take_smaller(smallest, limit_of(root / relative));
    if (relative.empty()) return smallest;
    relative = relative.parent_path();
  }
}

bool has_controller(const std::string& controllers, std::string_view controller) {
  return ("," + controllers + ",").find("," + std::string(controller) + ",") != std::string::npos;
}

}  // namespace

// A line of /proc/self/cgroup is "ID:CONTROLLERS:PATH"; v2's has no controllers.
std::optional<double> smallest_cgroup_limit(const CgroupPlaces& places, std::string_view controller,
                                            const CgroupLimit& v1, const CgroupLimit& v2) {
  std::optional<double> smallest;
  std::ifstream file(places.proc_cgroup);
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      take_smaller(smallest, smallest_above(places.root, group, v2));
    } else if (has_controller(controllers, controller)) {
      // The controller is mounted under its own name, or under the joined one ("cpu,cpuacct").
      auto limit = smallest_above(places.root / controller, group, v1);
      if (!limit) limit = smallest_above(places.root / controllers, group, v1);
      take_smaller(smallest, limit);
    }
  }
  return smallest;
}

std::string cgroup_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::optional<double> positive_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !(value > 0)) return std::nullopt;
  return value;
}

}  // namespace stoker

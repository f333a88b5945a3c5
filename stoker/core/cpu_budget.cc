#include "stoker/core/cpu_budget.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sched.h>

#include "stoker/core/environment.h"
#include "stoker/core/error.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

int count_affinity() {
  if (const std::size_t cpus = affinity_cpus().size()) return static_cast<int>(cpus);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::optional<double> parse_positive(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !(value > 0)) return std::nullopt;
  return value;
}

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// v2: cpu.max is "QUOTA PERIOD" or "max PERIOD".
std::optional<double> quota_v2(const fs::path& group) {
  std::istringstream words(first_line(group / "cpu.max"));
  std::string quota, period;
  words >> quota >> period;
  const auto q = parse_positive(quota), p = parse_positive(period);
  if (!q || !p) return std::nullopt;
  return *q / *p;
}

// v1: two files; a quota of -1 means none.
std::optional<double> quota_v1(const fs::path& group) {
  const auto q = parse_positive(first_line(group / "cpu.cfs_quota_us"));
  const auto p = parse_positive(first_line(group / "cpu.cfs_period_us"));
  if (!q || !p) return std::nullopt;
  return *q / *p;
}

// The smallest quota of the group and its parents, each of which binds.
template <class QuotaOf>
std::optional<double> smallest_quota(const fs::path& root, std::string_view group,
                                     QuotaOf quota_of) {
  std::optional<double> smallest;
  fs::path relative = fs::path(group).relative_path();
  while (true) {
    const auto quota = quota_of(root / relative);
    if (quota && (!smallest || *quota < *smallest)) smallest = quota;
    if (relative.empty()) return smallest;
    relative = relative.parent_path();
  }
}

// A line of /proc/self/cgroup is "ID:CONTROLLERS:PATH"; v2's has no controllers.
std::optional<double> cgroup_quota(const CpuBudgetSources& sources) {
  std::optional<double> smallest;
  std::ifstream file(sources.proc_cgroup);
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    std::optional<double> quota;
    if (controllers.empty()) {
      quota = smallest_quota(sources.cgroup_root, group, quota_v2);
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      // The controller is mounted under its own name, or under the joined one ("cpu,cpuacct").
      for (const std::string& mount : {std::string("cpu"), controllers}) {
        quota = smallest_quota(sources.cgroup_root / mount, group, quota_v1);
        if (quota) break;
      }
    }
    if (quota && (!smallest || *quota < *smallest)) smallest = quota;
  }
  return smallest;
}

int parse_slurm_cpus(const std::string& text) {
  int cpus = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cpus);
  if (error != std::errc{} || end != text.data() + text.size() || cpus < 1) {
    throw Error(
        {.what = "cannot read the number of CPUs from SLURM_CPUS_PER_TASK",
         .expected = "a whole number of at least 1",
         .found = fmt::format("\"{}\"", text),
         .hint = "Slurm sets it from --cpus-per-task; unset it to use the process's affinity"});
  }
  return cpus;
}

}  // namespace

std::vector<int> affinity_cpus() {
  std::vector<int> cpus;
  // The set grows until the kernel's fits: machines have more CPUs than a plain cpu_set_t holds.
  for (int capacity = CPU_SETSIZE; capacity <= 1 << 20; capacity *= 2) {
    cpu_set_t* set = CPU_ALLOC(capacity);
    const std::size_t bytes = CPU_ALLOC_SIZE(capacity);
    const bool ok = sched_getaffinity(0, bytes, set) == 0;
    const int error = errno;
    for (int cpu = 0; ok && cpu < capacity; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set)) cpus.push_back(cpu);
    }
    CPU_FREE(set);
    if (ok || error != EINVAL) break;
  }
  return cpus;
}

CpuBudgetSources system_cpu_budget_sources() {
  return {.environment = environment_variable,
          .affinity = count_affinity,
          .proc_cgroup = "/proc/self/cgroup",
          .cgroup_root = "/sys/fs/cgroup"};
}

CpuBudget cpu_budget(const CpuBudgetSources& sources) {
  if (const auto slurm = sources.environment("SLURM_CPUS_PER_TASK")) {
    return {parse_slurm_cpus(*slurm), fmt::format("SLURM_CPUS_PER_TASK={}", *slurm)};
  }
  const int affinity = sources.affinity();
  const auto quota = cgroup_quota(sources);
  if (quota && std::ceil(*quota) < affinity) {
    return {
        std::max(1, static_cast<int>(std::ceil(*quota))),
        fmt::format("the cgroup's quota of {:.2f} CPUs (affinity allows {})", *quota, affinity)};
  }
  return {affinity, fmt::format("affinity allows {} CPUs", affinity)};
}

int default_workers(const CpuBudget& budget) { return std::max(2, budget.cpus); }

}  // namespace stoker

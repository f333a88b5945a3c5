#include "stoker/core/cpu_budget.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sched.h>

#include "stoker/core/cgroups.h"
#include "stoker/core/environment.h"
#include "stoker/core/error.h"

namespace stoker {
namespace {

int count_affinity() {
  if (const std::size_t cpus = affinity_cpus().size()) return static_cast<int>(cpus);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// v2: cpu.max is "QUOTA PERIOD" or "max PERIOD".
std::optional<double> quota_v2(const std::filesystem::path& group) {
  std::istringstream words(cgroup_line(group / "cpu.max"));
  std::string quota, period;
  words >> quota >> period;
  const auto q = positive_number(quota), p = positive_number(period);
  if (!q || !p) return std::nullopt;
  return *q / *p;
}

// v1: two files; a quota of -1 means none.
std::optional<double> quota_v1(const std::filesystem::path& group) {
  const auto q = positive_number(cgroup_line(group / "cpu.cfs_quota_us"));
  const auto p = positive_number(cgroup_line(group / "cpu.cfs_period_us"));
  if (!q || !p) return std::nullopt;
  return *q / *p;
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
  const auto quota = smallest_cgroup_limit(
      {.proc_cgroup = sources.proc_cgroup, .root = sources.cgroup_root}, "cpu", quota_v1, quota_v2);
  if (quota && std::ceil(*quota) < affinity) {
    return {
        std::max(1, static_cast<int>(std::ceil(*quota))),
        fmt::format("the cgroup's quota of {:.2f} CPUs (affinity allows {})", *quota, affinity)};
  }
  return {affinity, fmt::format("affinity allows {} CPUs", affinity)};
}

int default_workers(const CpuBudget& budget) { return std::max(2, budget.cpus); }

}  // namespace stoker

// How many CPUs this process may really use, and why. A job on a shared machine often owns fewer
// than the machine has; starting one worker for each would slow the job and its neighbours.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "stoker/core/environment.h"

namespace stoker {

struct CpuBudget {
  int cpus = 1;        // at least 1
  std::string reason;  // e.g. "SLURM_CPUS_PER_TASK=8"
};

// Where the budget is read from; tests put their own in place.
struct CpuBudgetSources {
  Environment environment;
  std::function<int()> affinity;      // CPUs the scheduler may run us on
  std::filesystem::path proc_cgroup;  // /proc/self/cgroup
  std::filesystem::path cgroup_root;  // /sys/fs/cgroup
};
[[nodiscard]] CpuBudgetSources system_cpu_budget_sources();

// SLURM_CPUS_PER_TASK if it is set, else the smaller of the affinity and the cgroup's quota
// (v1 and v2, own group and every parent; a part of a CPU counts as one).
[[nodiscard]] CpuBudget cpu_budget(const CpuBudgetSources& sources = system_cpu_budget_sources());

// Numbers of the CPUs that the scheduler may run us on, ascending; none where it does not tell.
[[nodiscard]] std::vector<int> affinity_cpus();

// Feed workers for a budget: one a CPU, and at least two, so that reading overlaps with computing.
[[nodiscard]] int default_workers(const CpuBudget& budget);

}  // namespace stoker

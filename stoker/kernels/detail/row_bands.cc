#include "stoker/kernels/detail/row_bands.h"

#include <algorithm>
#include <exception>
#include <vector>

#include <hwy/cache_control.h>

#include "stoker/core/cpu_budget.h"
#include "stoker/core/helper_threads.h"

namespace stoker::detail {
namespace {

// Read once: the budget lies in files.
int process_cpus() {
  static const int cpus = cpu_budget().cpus;
  return cpus;
}

}  // namespace

int worthwhile_threads(int wanted, double steps, double steps_per_thread) {
  const double most = std::max(1.0, steps / steps_per_thread);
  const int allowed = wanted > 0 ? wanted : process_cpus();
  return most < allowed ? static_cast<int>(most) : allowed;
}

void for_row_bands(int rows, int multiple, int threads, const std::function<void(int, int)>& work) {
  if (rows <= 0) return;
  const int units = (rows + multiple - 1) / multiple;
  const int bands = std::clamp(threads, 1, units);
  const auto start_of = [&](int band) {
    return std::min<std::int64_t>(rows, std::int64_t{units} * band / bands * multiple);
  };
  std::vector<std::exception_ptr> failures(bands);
  const auto run = [&](int band) noexcept {
    try {
      work(static_cast<int>(start_of(band)), static_cast<int>(start_of(band + 1)));
      // Results that went around the caches are in place before the band counts as done.
      hwy::FlushStream();
    } catch (...) {
      failures[band] = std::current_exception();
    }
  };
  // More threads than CPUs only take turns, and those that wait take time from those that work.
  HelperThreads::of_process().run(bands, std::min(bands, process_cpus()) - 1, run);
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace stoker::detail

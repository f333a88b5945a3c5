#include "stoker/train/threads.h"

#include <algorithm>

#include <fmt/format.h>

namespace stoker {
namespace {

int compute_threads(const CpuBudget& budget, const ThreadRequest& request) {
  if (request.compute > 0) return request.compute;
  if (!request.device.is_cpu()) return 1;
  const std::int64_t useful = request.multiply_adds / kMultiplyAddsPerThread;
  return static_cast<int>(std::clamp<std::int64_t>(useful, 1, budget.cpus));
}

}  // namespace

ThreadSplit split_threads(const CpuBudget& budget, const ThreadRequest& request) {
  ThreadSplit split;
  split.compute = compute_threads(budget, request);
  // Workers that have nothing to do sleep, so as many as CPUs do not take from a computation that
  // is the slower side, and help where the feed is.
  split.workers = request.workers > 0 ? request.workers : default_workers(budget);
  split.reason = fmt::format("{} {}, {} {} for LibTorch; {} CPUs ({})", split.workers,
                             split.workers == 1 ? "worker" : "workers", split.compute,
                             split.compute == 1 ? "thread" : "threads", budget.cpus, budget.reason);
  return split;
}

}  // namespace stoker

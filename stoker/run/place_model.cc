#include "stoker/run/place_model.h"

#include <algorithm>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

namespace stoker {

namespace {

CpuBudget budget_of_rank(const Launch& launch) {
  CpuBudget budget = cpu_budget();
  if (launch.cpu_share >= 1) return budget;
  constexpr double kRounding = 1e-6;  // a third of 3 is 1
  budget.cpus = std::max(1, static_cast<int>(budget.cpus * launch.cpu_share + kRounding));
  budget.reason += fmt::format(", of which {:.0f} % are this rank's", 100 * launch.cpu_share);
  return budget;
}

// oneDNN computes convolutions on CPUs with SSE4.1; on older ones it fails with "could not create a
// primitive". LibTorch's own convolutions work there.
void avoid_missing_instructions() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.1") != 0) return;
  at::globalContext().setUserEnabledMkldnn(false);
  at::globalContext().setUserEnabledNNPACK(false);  // would warn at every convolution
#endif
}

}  // namespace

std::string device_of_rank(const std::string& wanted, const Launch& launch) {
  const bool any_gpu = wanted == "auto" || wanted.starts_with("cuda");
  if (launch.ranks == 1 || !any_gpu) return wanted;
  if (wanted == "auto" && probe_cuda().devices == 0) return wanted;
  return fmt::format("cuda:{}", launch.local_rank);
}

Placement place_model(Model& model, const ComputeSettings& settings, std::uint32_t batch_size,
                      const Launch& launch) {
  const ChosenDevice device = choose_device(device_of_rank(settings.device, launch));
  const std::int64_t samples = (batch_size + launch.ranks - 1) / launch.ranks;
  Placement placement{.device = device,
                      .threads = split_threads(budget_of_rank(launch),
                                               {.workers = settings.workers,
                                                .compute = settings.threads,
                                                .multiply_adds = model.multiply_adds() * samples,
                                                .device = device.device})};
  at::set_num_threads(placement.threads.compute);
  avoid_missing_instructions();
  model.to(device.device);
  return placement;
}

std::uint32_t default_evaluation_batch(const ImageShape& image) {
  return image.height * image.width <= 64 * 64 ? 256 : 32;
}

}  // namespace stoker

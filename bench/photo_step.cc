// One side of bench/photo_step.py: training steps of a network for photographs on one batch that
// lies in memory. Prints the median seconds of a step.
//
//   photo_step resnet18 32 float32 10
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "stoker/core/cpu_budget.h"
#include "stoker/core/error.h"
#include "stoker/core/pages.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/train/optimiser.h"
#include "stoker/train/threads.h"

namespace stoker {
namespace {

constexpr int kWarmUp = 2;

double seconds_of_step(const std::string& architecture, std::int64_t batch, Precision precision,
                       int steps) {
  const auto model = make_model(architecture, {.image = {224, 224, 3}, .classes = 1000}, 0);
  model->compute_in(precision);
  at::set_num_threads(
      split_threads(cpu_budget(), {.multiply_adds = model->multiply_adds() * batch}).compute);
  at::manual_seed(0);
  const at::Tensor images = at::randn({batch, 3, 224, 224});
  const at::Tensor labels = at::randint(1000, {batch}, at::kLong);
  Optimiser optimiser(model->stages(), {.kind = OptimiserKind::kMomentum});
  std::vector<double> seconds;
  for (int step = -kWarmUp; step < steps; ++step) {
    const auto start = std::chrono::steady_clock::now();
    model->backward(images, labels, {});
    optimiser.step(0.01);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (step >= 0) seconds.push_back(took.count());
  }
  std::ranges::nth_element(seconds, seconds.begin() + steps / 2);
  return seconds[static_cast<std::size_t>(steps / 2)];
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  try {
    stoker::keep_freed_memory();
    if (argc != 5) throw stoker::Error({.what = "needed: model, batch size, precision, steps"});
    const auto precision = std::string(argv[3]) == "bfloat16" ? stoker::Precision::kBfloat16
                                                              : stoker::Precision::kFloat32;
    fmt::print("{:.4f}\n", stoker::seconds_of_step(argv[1], std::stoll(argv[2]), precision,
                                                   std::stoi(argv[4])));
  } catch (const std::exception& error) {
    fmt::print(stderr, "photo_step: {}\n", error.what());
    return 1;
  }
}

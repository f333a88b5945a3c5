// The limit of bench/train_fashion.py: the same training steps on batches that lie in memory, with
// no feed beside them. Prints samples a second.
//
//   train_limit mlp:784,128,10
#include <chrono>
#include <cstdio>
#include <vector>

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "stoker/core/cpu_budget.h"
#include "stoker/core/error.h"
#include "stoker/core/pages.h"
#include "stoker/data/catalog.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/train/device_batches.h"
#include "stoker/train/optimiser.h"
#include "stoker/train/threads.h"

namespace stoker {
namespace {

constexpr std::uint32_t kBatch = 64;
constexpr int kWarmUp = 20, kSteps = 938;  // an epoch of 60,000

std::vector<DeviceBatch> batches_in_memory(const std::shared_ptr<const Source>& source) {
  Feed feed(source, Policy::parse("mnist"), {.batch_size = kBatch, .batches_per_epoch = 200});
  DeviceBatches batches(feed, at::kCPU, {});
  std::vector<DeviceBatch> kept;
  while (auto batch = batches.next()) {
    kept.push_back({.values = batch->values.clone(),
                    .labels = batch->labels.clone(),
                    .number = batch->number});
  }
  return kept;
}

double samples_per_second(const std::string& architecture) {
  const auto source = open_data("fashion-mnist", Split::kTrain);
  const auto model = make_model(architecture, {.image = source->shape(), .classes = 10}, 0);
  at::set_num_threads(
      split_threads(cpu_budget(), {.multiply_adds = model->multiply_adds() * kBatch}).compute);
  const std::vector<DeviceBatch> batches = batches_in_memory(source);
  Optimiser optimiser(model->stages(), {});
  std::chrono::steady_clock::time_point start;
  for (int step = -kWarmUp; step < kSteps; ++step) {
    if (step == 0) start = std::chrono::steady_clock::now();
    const DeviceBatch& batch = batches[static_cast<std::size_t>(step + kWarmUp) % batches.size()];
    model->backward(batch.values, batch.labels, {});
    optimiser.step(0.1);
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return kSteps * kBatch / seconds;
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  try {
    stoker::keep_freed_memory();
    if (argc != 2) throw stoker::Error({.what = "one argument is needed: the model"});
    fmt::print("{:.1f}\n", stoker::samples_per_second(argv[1]));
  } catch (const std::exception& error) {
    fmt::print(stderr, "train_limit: {}\n", error.what());
    return 1;
  }
}

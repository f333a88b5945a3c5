#include "stoker/train/batch_probe.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include <ATen/ATen.h>

#include "stoker/train/kept_weights.h"

namespace stoker {
namespace {

constexpr std::uint32_t kSmallest = 8;
constexpr double kSameSpeed = 0.95;

// Nothing where the device has no memory for it.
std::optional<double> samples_per_second(Model& model, std::uint32_t size) {
  const ImageShape& image = model.input().image;
  constexpr int kSteps = 2;  // and one before them, which warms up
  try {
    const auto on_device = at::TensorOptions(model.device());
    const at::Tensor pixels =
        at::zeros({size, image.channels, image.height, image.width}, on_device);
    const at::Tensor labels = at::zeros({size}, on_device.dtype(at::kLong));
    auto start = std::chrono::steady_clock::now();
    for (int step = -1; step < kSteps; ++step) {
      if (step == 0) start = std::chrono::steady_clock::now();
      // Reading the loss waits for an accelerator.
      static_cast<void>(model.backward(pixels, labels, {}).loss.item<float>());
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    return kSteps * size / seconds.count();
  } catch (const c10::OutOfMemoryError&) {
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

std::uint32_t smallest_fast(const std::vector<BatchProbe>& tried) {
  double best = 0;
  for (const BatchProbe& probe : tried) best = std::max(best, probe.samples_per_second);
  for (const BatchProbe& probe : tried) {
    if (probe.samples_per_second >= kSameSpeed * best) return probe.size;
  }
  return kSmallest;
}

// Two doublings without gain: it will not come.
bool is_flat(const std::vector<BatchProbe>& tried) {
  const std::size_t n = tried.size();
  return n >= 3 && tried[n - 1].samples_per_second * kSameSpeed < tried[n - 3].samples_per_second;
}

}  // namespace

BatchChoice choose_batch_size(Model& model, std::uint32_t most,
                              const std::function<void(const BatchProbe&)>& on_probe) {
  const KeptWeights kept(model);
  const bool on_cpu = model.device().is_cpu();
  BatchChoice choice;
  for (std::uint32_t size = std::min(kSmallest, most); size <= most; size *= 2) {
    const auto speed = samples_per_second(model, size);
    if (!speed) {
      choice.out_of_memory = true;
      break;
    }
    choice.tried.push_back({.size = size, .samples_per_second = *speed});
    if (on_probe) on_probe(choice.tried.back());
    if (on_cpu && is_flat(choice.tried)) break;
  }
  const bool none = choice.tried.empty();
  choice.size = none ? 1 : on_cpu ? smallest_fast(choice.tried) : choice.tried.back().size;
  return choice;
}

}  // namespace stoker

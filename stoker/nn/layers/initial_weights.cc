#include "stoker/nn/layers/initial_weights.h"

#include <ATen/ATen.h>

#include "stoker/core/distributions.h"
#include "stoker/core/rng.h"

namespace stoker {

at::Tensor uniform_weights(at::IntArrayRef shape, double bound, std::uint64_t seed,
                           std::uint64_t layer) {
  at::Tensor weights = at::empty(shape, at::kFloat);
  Rng rng({.seed = seed, .epoch = 0, .sample = layer}, kWeightsStream);
  auto* values = weights.data_ptr<float>();
  for (std::int64_t i = 0; i < weights.numel(); ++i) {
    values[i] = static_cast<float>(rng.uniform(-bound, bound));
  }
  return weights;
}

at::Tensor normal_weights(at::IntArrayRef shape, double deviation, std::uint64_t seed,
                          std::uint64_t layer) {
  at::Tensor weights = at::empty(shape, at::kFloat);
  Rng rng({.seed = seed, .epoch = 0, .sample = layer}, kWeightsStream);
  auto* values = weights.data_ptr<float>();
  const std::int64_t count = weights.numel();
  for (std::int64_t i = 0; i < count; i += 2) {
    const auto [first, second] = draw_two_normals(rng);
    values[i] = static_cast<float>(deviation * first);
    if (i + 1 < count) values[i + 1] = static_cast<float>(deviation * second);
  }
  return weights;
}

}  // namespace stoker

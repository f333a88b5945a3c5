#include "stoker/nn/layers/keyed_dropout.h"

#include <ATen/ATen.h>

#include "stoker/core/invariant.h"
#include "stoker/core/rng.h"
#include "stoker/nn/compute_threads.h"

namespace stoker {
namespace {

// Philox gives unrelated streams for other keys; the first layer's is the seed itself.
std::uint64_t layer_seed(const DrawKey& key) {
  return key.seed + key.layer * std::uint64_t{0xD1B5'4A32'D192'ED03};
}

}  // namespace

at::Tensor drawn_factors(at::IntArrayRef shape, std::int64_t samples, double probability,
                         float kept, const DrawKey& key) {
  at::Tensor factors = at::empty(shape, at::kFloat);
  if (factors.numel() == 0) return factors;
  STOKER_INVARIANT(shape[0] % samples == 0, "{} rows for {} samples", shape[0], samples);
  const auto limit = static_cast<std::uint32_t>(probability * 0x1p32);
  const std::int64_t count = factors.numel() / samples;
  auto* const all = factors.data_ptr<float>();
  constexpr std::int64_t kLeastValues = 1 << 14;  // for a thread
  const auto draw = [&](std::int64_t sample) {
    const std::uint32_t place =
        key.first_place + static_cast<std::uint32_t>(sample) * key.place_step;
    Rng rng({.seed = layer_seed(key), .epoch = place, .sample = key.batch}, kDropoutStream);
    float* factor = all + sample * count;
    for (std::int64_t i = 0; i < count; ++i) {
      *factor++ = rng.next_u32() < limit ? 0 : kept;
    }
  };
  for_parts(samples, draw, 1 + kLeastValues / count);
  return factors;
}

at::Tensor dropped(const at::Tensor& x, std::int64_t samples, double probability,
                   const DrawKey& key) {
  const auto growth = static_cast<float>(1 / (1 - probability));
  return x * drawn_factors(x.sizes(), samples, probability, growth, key).to(x.device());
}

}  // namespace stoker

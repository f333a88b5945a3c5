#include "stoker/augment/mix.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/distributions.h"
#include "stoker/core/error.h"
#include "stoker/core/invariant.h"

namespace stoker {
namespace {

void check_number(const char* name, double value, double maximum) {
  if (value >= 0 && value <= maximum) return;
  throw Error({.what = fmt::format("cannot mix batches: {} is out of range", name),
               .expected = fmt::format("0 to {}", maximum),
               .found = fmt::format("{}", value)});
}

// A box of the share 1 - lambda of the image about a random pixel, cut at the border.
Box draw_box(Rng& rng, double lambda, const BatchShape& shape) {
  const auto x = static_cast<int>(rng.uniform_int(shape.width));
  const auto y = static_cast<int>(rng.uniform_int(shape.height));
  const double half = 0.5 * std::sqrt(1 - lambda);
  const int half_width = static_cast<int>(half * shape.width);
  const int half_height = static_cast<int>(half * shape.height);
  const int left = std::max(x - half_width, 0), right = std::min(x + half_width, shape.width);
  const int top = std::max(y - half_height, 0), bottom = std::min(y + half_height, shape.height);
  return {.y = top, .x = left, .height = bottom - top, .width = right - left};
}

Mix draw_cutmix(Rng& rng, double alpha, const BatchShape& shape) {
  const Box box = draw_box(rng, draw_beta(rng, alpha, alpha), shape);
  const double covered = static_cast<double>(box.height) * box.width;
  const double pixels = static_cast<double>(shape.height) * shape.width;
  return {
      .kind = Mix::Kind::kCutmix, .lambda = static_cast<float>(1 - covered / pixels), .box = box};
}

Mix draw_mixup(Rng& rng, double alpha) {
  return {.kind = Mix::Kind::kMixup, .lambda = static_cast<float>(draw_beta(rng, alpha, alpha))};
}

void mix_pair(float* a, float* b, std::size_t count, float lambda) {
  const float rest = 1 - lambda;
  for (std::size_t i = 0; i < count; ++i) {
    const float first = a[i], second = b[i];
    a[i] = lambda * first + rest * second;
    b[i] = lambda * second + rest * first;
  }
}

void swap_boxes(float* a, float* b, const BatchShape& shape, const Box& box) {
  for (std::size_t channel = 0; channel < shape.channels; ++channel) {
    for (int y = box.y; y < box.y + box.height; ++y) {
      const std::size_t row = (channel * shape.height + y) * shape.width + box.x;
      std::swap_ranges(a + row, a + row + box.width, b + row);
    }
  }
}

}  // namespace

void check_mix(const MixOptions& options) {
  check_number("Mixup's alpha", options.mixup_alpha, 1000);
  check_number("CutMix's alpha", options.cutmix_alpha, 1000);
  check_number("the probability", options.probability, 1);
  check_number("the probability of CutMix", options.switch_probability, 1);
}

Mix draw_mix(const MixOptions& options, std::uint64_t seed, std::uint32_t epoch,
             std::uint64_t batch, const BatchShape& shape) {
  const bool mixup = options.mixup_alpha > 0, cutmix = options.cutmix_alpha > 0;
  if (!mixup && !cutmix) return {};
  Rng rng({.seed = seed, .epoch = epoch, .sample = batch}, kMixStream);
  // Always in this order, so that one option does not change what another one draws.
  const bool done = rng.bernoulli(options.probability);
  const bool switched = rng.bernoulli(options.switch_probability);
  if (!done) return {};
  if (cutmix && (switched || !mixup)) return draw_cutmix(rng, options.cutmix_alpha, shape);
  return draw_mixup(rng, options.mixup_alpha);
}

void apply_mix(std::span<float> values, const BatchShape& shape, const Mix& mix) {
  const std::size_t count = shape.channels * static_cast<std::size_t>(shape.height) *
                            static_cast<std::size_t>(shape.width);
  STOKER_INVARIANT(values.size() == shape.samples * count, "{} values", values.size());
  for (std::size_t i = 0; i < shape.samples / 2; ++i) {
    float* a = values.data() + i * count;
    float* b = values.data() + mix_partner(i, shape.samples) * count;
    if (mix.kind == Mix::Kind::kMixup) mix_pair(a, b, count, mix.lambda);
    if (mix.kind == Mix::Kind::kCutmix) swap_boxes(a, b, shape, mix.box);
  }
}

}  // namespace stoker

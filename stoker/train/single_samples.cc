#include "stoker/train/single_samples.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/train/kept_weights.h"
#include "stoker/train/training_feed.h"

namespace stoker {
namespace {

// Rank r of w gets every w-th sample of n: some get one more than others.
bool some_part_is_one(std::uint64_t n, std::uint64_t ranks) noexcept {
  const std::uint64_t least = n / ranks;
  return least == 1 || (least == 0 && n > 0);
}

// The nearest size without single samples, upwards or downwards; 0: none.
std::uint32_t nearest(BatchSizes sizes, bool upwards) {
  constexpr int kMostTries = 10'000;
  for (int i = 0; i < kMostTries; ++i) {
    if (!upwards && sizes.batch_size <= 2) return 0;
    sizes.batch_size += upwards ? 1 : -1;
    if (!has_single_samples(sizes)) return sizes.batch_size;
  }
  return 0;
}

std::string fitting_sizes(const BatchSizes& sizes) {
  const std::uint32_t below = nearest(sizes, false), above = nearest(sizes, true);
  if (below == 0) return fmt::format("`batch_size` {}", above);
  if (above == 0) return fmt::format("`batch_size` {}", below);
  return fmt::format("`batch_size` {} or {}", below, above);
}

}  // namespace

bool has_single_samples(const BatchSizes& sizes) noexcept {
  const std::uint64_t ranks = sizes.shared_statistics ? 1 : sizes.ranks;
  const bool has_full = sizes.samples >= sizes.batch_size;
  return (has_full && some_part_is_one(sizes.batch_size, ranks)) ||
         some_part_is_one(sizes.samples % sizes.batch_size, ranks);
}

bool learns_from_one_sample(Model& model, std::size_t frozen) {
  const KeptWeights kept(model);
  const std::size_t frozen_now = model.frozen();
  const ImageShape& image = model.input().image;
  const auto on_device = at::TensorOptions(model.device());
  model.freeze(frozen);
  bool learns = true;
  try {
    static_cast<void>(
        model.backward(at::zeros({1, image.channels, image.height, image.width}, on_device),
                       at::zeros({1}, on_device.dtype(at::kLong)), {}));
  } catch (const Error&) {
    learns = false;
  } catch (const c10::OutOfMemoryError&) {
    // Says nothing about batch norms, and training will meet it too.
  }
  model.freeze(frozen_now);
  return learns;
}

void refuse_single_samples(Model& model, const TrainData& data, const TrainOptions& options,
                           std::uint32_t ranks) {
  if (options.cached_views > 0) return;  // only the head learns
  const BatchPlan plan = plan_of(training_feed_options(data, options), data.train->size());
  const BatchSizes sizes{.samples = plan.samples_per_epoch(),
                         .batch_size = options.feed.batch_size,
                         .ranks = ranks,
                         .shared_statistics = options.shared_statistics};
  const std::size_t frozen = options.unfreeze_epoch > 0 ? 0 : model.frozen();
  if (!has_single_samples(sizes) || learns_from_one_sample(model, frozen)) return;
  const std::uint64_t left = sizes.samples % sizes.batch_size;
  throw Error(
      {.what = "the network's batch norms cannot learn from a single sample",
       .expected = "batches that leave at least two samples for each rank",
       .found = fmt::format("{} samples in batches of {}{}{}", sizes.samples, sizes.batch_size,
                            left == 0 ? "" : fmt::format(", the last of {}", left),
                            sizes.ranks == 1 ? "" : fmt::format(", for {} ranks", sizes.ranks)),
       .hint = fmt::format("Choose {}{}", fitting_sizes(sizes),
                           sizes.ranks == 1 ? "" : ", or `sync_bn`")});
}

}  // namespace stoker

#include "stoker/train/detail/checked_options.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker::detail {

TrainOptions checked(const TrainOptions& options) {
  const auto require = [](bool condition, const char* what, const char* expected, double found) {
    if (condition) return;
    throw Error({.what = fmt::format("{} makes no sense", what),
                 .expected = expected,
                 .found = fmt::format("{}", found)});
  };
  require(options.feed.epochs >= 1, "the number of epochs", "at least 1", options.feed.epochs);
  require(options.grad_accum_steps >= 1, "the number of batches a step", "at least 1",
          options.grad_accum_steps);
  require(options.smoothing >= 0 && options.smoothing < 1, "label smoothing", "0 or more, below 1",
          options.smoothing);
  require(options.clip_grad >= 0, "the largest norm of gradients", "0 (any) or more",
          options.clip_grad);
  check_mix(options.mix);
  const bool mixes = options.mix.mixup_alpha > 0 || options.mix.cutmix_alpha > 0;
  require(options.cached_views == 0 || !mixes, "mixing kept features",
          "Mixup and CutMix only with pictures", options.cached_views);
  require(options.cached_views == 0 || options.unfreeze_epoch == 0,
          "unfreezing while features are kept", "one of the two", options.unfreeze_epoch);
  return options;
}

at::Tensor class_weights(const TrainOptions& options, const Model& model) {
  if (options.class_weights.empty()) return {};
  const auto classes = static_cast<std::size_t>(model.input().classes);
  if (options.class_weights.size() != classes) {
    throw Error({.what = "the classes' weights do not fit the data",
                 .expected = fmt::format("{} of them", classes),
                 .found = fmt::format("{}", options.class_weights.size())});
  }
  for (const double weight : options.class_weights) {
    if (weight >= 0) continue;
    throw Error({.what = "a class's weight makes no sense",
                 .expected = "0 or more",
                 .found = fmt::format("{}", weight)});
  }
  return at::tensor(options.class_weights, at::kFloat).to(model.device());
}

}  // namespace stoker::detail

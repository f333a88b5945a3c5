#include "stoker/train/detail/checked_options.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker::detail {

TrainOptions checked(const TrainOptions& options) {
  const auto require = [](bool condition, const char* what, const char* expected, double found) {
    if (condition) return;
    throw OptionError({.what = fmt::format("{} must be {} (got {})", what, expected, found)});
  };
  require(options.feed.epochs >= 1, "`epochs`", "at least 1", options.feed.epochs);
  require(options.grad_accum_steps >= 1, "`grad_accum_steps`", "at least 1",
          options.grad_accum_steps);
  require(options.smoothing >= 0 && options.smoothing < 1, "`smoothing`", "0 or more, below 1",
          options.smoothing);
  require(options.clip_grad >= 0, "`clip_grad`", "0 (off) or more", options.clip_grad);
  check_mix(options.mix);
  const bool mixes = options.mix.mixup_alpha > 0 || options.mix.cutmix_alpha > 0;
  require(options.cached_views == 0 || !mixes, "`mixup` and `cutmix`",
          "0 with `features` cached: features cannot be mixed",
          std::max(options.mix.mixup_alpha, options.mix.cutmix_alpha));
  require(options.cached_views == 0 || options.feed.views == 1, "`views`",
          "1 with `features` cached: `cached_views` counts the versions there", options.feed.views);
  require(options.cached_views == 0 || options.unfreeze_epoch == 0, "`unfreeze_epoch`",
          "0 with `features` cached: features are those of frozen layers", options.unfreeze_epoch);
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
    throw OptionError(
        {.what = fmt::format("the weight of a class must be 0 or more (got {})", weight)});
  }
  return at::tensor(options.class_weights, at::kFloat).to(model.device());
}

}  // namespace stoker::detail

#include "stoker/nn/target_scale.h"

#include <cmath>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"

namespace stoker {
namespace {

at::Tensor row_like(const std::vector<double>& values, const at::Tensor& rows) {
  STOKER_INVARIANT(rows.dim() == 2 && rows.size(1) == static_cast<std::int64_t>(values.size()),
                   "{} targets, a scale of {}", rows.size(-1), values.size());
  return at::tensor(values, at::kDouble).to(rows.device());
}

}  // namespace

void TargetStatistics::add(std::span<const float> targets) {
  STOKER_INVARIANT(targets.size() == mean_.size(), "{} targets, not {}", targets.size(),
                   mean_.size());
  for (const float target : targets) {
    if (std::isfinite(target)) continue;
    throw Error({.what = "a sample's target cannot be learned",
                 .expected = "finite numbers",
                 .found = fmt::format("{}", target)});
  }
  ++samples_;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const double before = targets[i] - mean_[i];
    mean_[i] += before / static_cast<double>(samples_);
    squares_[i] += before * (targets[i] - mean_[i]);
  }
}

TargetScale TargetStatistics::scale() const {
  if (samples_ == 0) {
    throw Error({.what = "no sample has targets",
                 .expected = "at least one training sample",
                 .found = "none"});
  }
  TargetScale scale{.mean = mean_, .deviation = {}};
  for (const double squares : squares_) {
    const double deviation = std::sqrt(squares / static_cast<double>(samples_));
    scale.deviation.push_back(deviation > 0 ? deviation : 1);
  }
  return scale;
}

at::Tensor standardised(const at::Tensor& targets, const TargetScale& scale) {
  return targets.to(at::kDouble)
      .sub(row_like(scale.mean, targets))
      .div(row_like(scale.deviation, targets))
      .to(at::kFloat);
}

at::Tensor in_own_unit(const at::Tensor& outputs, const TargetScale& scale) {
  return outputs.to(at::kDouble)
      .mul(row_like(scale.deviation, outputs))
      .add(row_like(scale.mean, outputs))
      .to(at::kFloat);
}

}  // namespace stoker

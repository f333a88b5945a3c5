#include "stoker/nn/target_loss.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"
#include "stoker/nn/loss.h"

namespace stoker {
namespace {

const std::string& loss_name(LossKind kind) { return loss_names()[static_cast<std::size_t>(kind)]; }

// σ(x)^γ by way of the logarithm: its slope is finite where σ(x) is 0.
at::Tensor power_of_sigmoid(const at::Tensor& x, double gamma) {
  return at::log_sigmoid(x).mul(gamma).exp();
}

at::Tensor focal_losses(const at::Tensor& x, const at::Tensor& y, const FocusOptions& focus) {
  at::Tensor present = y * power_of_sigmoid(-x, focus.gamma) * at::log_sigmoid(x);
  at::Tensor absent = (1 - y) * power_of_sigmoid(x, focus.gamma) * at::log_sigmoid(-x);
  if (focus.alpha) {
    present = present * *focus.alpha;
    absent = absent * (1 - *focus.alpha);
  }
  return -(present + absent);
}

at::Tensor asymmetric_losses(const at::Tensor& x, const at::Tensor& y, const FocusOptions& focus) {
  const at::Tensor present = y * power_of_sigmoid(-x, focus.gamma_present) * at::log_sigmoid(x);
  // With a margin 1 - q is at least that, so its logarithm is safe; without one it is 1 - p.
  const bool margin = focus.margin > 0;
  const at::Tensor q = margin ? (at::sigmoid(x) - focus.margin).clamp_min(0) : at::sigmoid(x);
  const at::Tensor log_rest = margin ? at::log1p(-q) : at::log_sigmoid(-x);
  return -(present + (1 - y) * q.pow(focus.gamma_absent) * log_rest);
}

void check_focus(const FocusOptions& focus) {
  const auto expect = [](bool fits, const char* what, const char* expected, double found) {
    if (fits) return;
    throw OptionError({.what = fmt::format("the loss cannot use this {}", what),
                       .expected = expected,
                       .found = fmt::format("{}", found)});
  };
  expect(focus.gamma >= 0, "gamma", "0 or more", focus.gamma);
  expect(focus.gamma_present >= 0, "gamma of classes present", "0 or more", focus.gamma_present);
  // Below 1 the slope of q^γ is infinite at the margin.
  expect(focus.gamma_absent == 0 || focus.gamma_absent >= 1, "gamma of classes absent",
         "0, or 1 or more", focus.gamma_absent);
  expect(focus.margin >= 0 && focus.margin < 1, "margin", "0 or more and below 1", focus.margin);
  const double alpha = focus.alpha.value_or(0.5);
  expect(alpha >= 0 && alpha <= 1, "alpha", "0 to 1", alpha);
}

at::Tensor smoothed(const at::Tensor& targets, const LossOptions& options) {
  if (options.smoothing == 0) return targets;
  return targets * (1 - options.smoothing) + options.smoothing / 2;
}

void refuse_smoothing(const LossOptions& options) {
  if (options.smoothing == 0) return;
  throw OptionError({.what = "targets of a regression cannot be smoothed",
                     .expected = "no smoothing",
                     .found = fmt::format("{}", options.smoothing)});
}

// Of each output.
at::Tensor output_losses(const at::Tensor& x, const at::Tensor& targets,
                         const LossOptions& options) {
  switch (options.kind) {
    case LossKind::kBinaryCrossEntropy:
      return at::binary_cross_entropy_with_logits(x, smoothed(targets, options), /*weight=*/{},
                                                  /*pos_weight=*/{}, at::Reduction::None);
    case LossKind::kFocal:
      check_focus(options.focus);
      return focal_losses(x, smoothed(targets, options), options.focus);
    case LossKind::kAsymmetric:
      check_focus(options.focus);
      return asymmetric_losses(x, smoothed(targets, options), options.focus);
    case LossKind::kSquaredError:
      refuse_smoothing(options);
      return at::mse_loss(x, targets, at::Reduction::None);
    case LossKind::kHuber:
      refuse_smoothing(options);
      return at::huber_loss(x, targets, at::Reduction::None, /*delta=*/1.0);
    case LossKind::kCrossEntropy:
      break;
  }
  throw OptionError({.what = "the loss needs one class for each sample",
                     .expected = "one of bce, focal, asymmetric, mse, huber",
                     .found = loss_name(options.kind)});
}

}  // namespace

at::Tensor target_losses(const at::Tensor& outputs, const at::Tensor& targets,
                         const LossOptions& options) {
  STOKER_INVARIANT(outputs.dim() == 2 && outputs.sizes() == targets.sizes(),
                   "{} outputs of {} samples, {} targets in {} dimensions", outputs.size(-1),
                   outputs.size(0), targets.numel(), targets.dim());
  const at::Tensor losses = output_losses(outputs, targets, options);
  return (options.class_weights.defined() ? losses * options.class_weights : losses).mean(1);
}

at::Tensor mean_target_loss(const at::Tensor& outputs, const at::Tensor& targets,
                            const LossOptions& options) {
  const double samples = static_cast<double>(std::max<std::int64_t>(1, targets.size(0)));
  return mixed_loss(targets, options, [&](const at::Tensor& y, const at::Tensor& weights) {
    const at::Tensor losses = target_losses(outputs, y, options);
    return (weights.defined() ? losses * weights : losses).sum() / samples;
  });
}

at::Tensor predictions_of(Task task, const at::Tensor& logits) {
  switch (task) {
    case Task::kClassify:
      return logits.softmax(1);
    case Task::kMultilabel:
      return logits.sigmoid();
    case Task::kRegress:
      break;
  }
  return logits;
}

}  // namespace stoker

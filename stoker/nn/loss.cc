#include "stoker/nn/loss.h"

#include <ATen/ATen.h>

#include "stoker/core/invariant.h"

namespace stoker {

void check_partner_weights(const LossOptions& options) {
  STOKER_INVARIANT(options.sample_weights.defined() == options.partner_weights.defined(),
                   "own weights {}, partners' {}", options.sample_weights.defined(),
                   options.partner_weights.defined());
}

at::Tensor smoothed_onehot(const at::Tensor& labels, const at::Tensor& outputs, double smoothing) {
  const double spread = smoothing / static_cast<double>(outputs.size(1));
  return at::full_like(outputs, spread).scatter_(1, labels.unsqueeze(1), 1 - smoothing + spread);
}

at::Tensor squared_errors(const at::Tensor& activations, const at::Tensor& labels,
                          const LossOptions& options) {
  const at::Tensor target = smoothed_onehot(labels, activations.detach(), options.smoothing);
  at::Tensor errors = (activations - target).square().sum(1) * 0.5;
  if (!options.class_weights.defined()) return errors;
  return errors * options.class_weights.index_select(0, labels);
}

at::Tensor squared_error_slope(const at::Tensor& activations, const at::Tensor& labels,
                               const LossOptions& options) {
  at::Tensor slope = activations - smoothed_onehot(labels, activations, options.smoothing);
  if (options.class_weights.defined()) {
    slope.mul_(options.class_weights.index_select(0, labels).unsqueeze(1));
  }
  return slope;
}

at::Tensor losses_of_samples(LossKind kind, const Model& model, const at::Tensor& logits,
                             const at::Tensor& logs, const at::Tensor& labels) {
  const at::Tensor classes = labels.clamp_min(0);
  if (kind == LossKind::kSquaredError) return squared_errors(model.activated(logits), classes, {});
  return logs.gather(1, classes.unsqueeze(1)).neg().squeeze(1);
}

}  // namespace stoker

#include "stoker/nn/loss.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "stoker/core/invariant.h"

namespace stoker {
namespace {

// Divided by the number of samples, of which a rank may have none; not by their weights.
at::Tensor mean_of(const at::Tensor& losses, const at::Tensor& sample_weights) {
  const at::Tensor sum = (sample_weights.defined() ? losses * sample_weights : losses).sum();
  return sum / std::max<std::int64_t>(1, losses.size(0));
}

at::Tensor mean_cross_entropy(const at::Tensor& outputs, const at::Tensor& labels,
                              const at::Tensor& sample_weights, const LossOptions& options) {
  const auto reduced = [&](std::int64_t reduction) {
    return at::cross_entropy_loss(outputs, labels, options.class_weights, reduction,
                                  /*ignore_index=*/-100, options.smoothing);
  };
  // A mean of nothing would be NaN; a rank without a sample adds nothing.
  if (labels.size(0) == 0) return reduced(at::Reduction::Sum);
  if (sample_weights.defined()) return mean_of(reduced(at::Reduction::None), sample_weights);
  if (!options.class_weights.defined()) return reduced(at::Reduction::Mean);
  return reduced(at::Reduction::Sum) / labels.size(0);  // LibTorch's mean divides by weights
}

// Of the image, which may be mixed of two.
at::Tensor weights_of_images(const LossOptions& options) {
  if (!options.sample_weights.defined() || !options.partner_labels.defined()) {
    return options.sample_weights;
  }
  check_partner_weights(options);
  return options.sample_weights * options.own_share +
         options.partner_weights * (1 - options.own_share);
}

}  // namespace

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

at::Tensor binary_cross_entropies(const at::Tensor& scores, const at::Tensor& labels,
                                  const LossOptions& options) {
  const at::Tensor target = smoothed_onehot(labels, scores.detach(), options.smoothing);
  at::Tensor losses = at::binary_cross_entropy_with_logits(scores, target, /*weight=*/{},
                                                           /*pos_weight=*/{}, at::Reduction::None)
                          .mean(1);
  if (!options.class_weights.defined()) return losses;
  return losses * options.class_weights.index_select(0, labels);
}

at::Tensor teacher_losses(const at::Tensor& logits, const at::Tensor& teacher_logits,
                          const DistillOptions& options) {
  if (options.kind == DistillKind::kHard) {
    return at::cross_entropy_loss(logits, teacher_logits.argmax(1), /*weight=*/{},
                                  at::Reduction::None);
  }
  const double t = options.temperature;
  return at::kl_div((logits / t).log_softmax(1), (teacher_logits / t).log_softmax(1),
                    at::Reduction::None, /*log_target=*/true)
      .sum(1)
      .mul(t * t);
}

at::Tensor mean_class_loss(const Model& model, const ClassOutputs& outputs,
                           const at::Tensor& labels, const LossOptions& options) {
  check_loss(Task::kClassify, options.kind);
  at::Tensor loss = mixed_loss(labels, options, [&](const auto& classes, const auto& weights) {
    switch (options.kind) {
      case LossKind::kSquaredError:
        return mean_of(squared_errors(model.activated(outputs.logits), classes, options), weights);
      case LossKind::kBinaryCrossEntropy:
        return mean_of(binary_cross_entropies(outputs.scores, classes, options), weights);
      default:
        return mean_cross_entropy(outputs.logits, classes, weights, options);
    }
  });
  if (!options.teacher_logits.defined()) return loss;
  const double alpha = options.distill.alpha;
  const at::Tensor taught =
      mean_of(teacher_losses(outputs.logits, options.teacher_logits, options.distill),
              weights_of_images(options));
  return loss * (1 - alpha) + taught * alpha;
}

at::Tensor losses_of_samples(LossKind kind, const Model& model, const at::Tensor& logits,
                             const at::Tensor& logs, const at::Tensor& labels) {
  const at::Tensor classes = labels.clamp_min(0);
  if (kind == LossKind::kSquaredError) return squared_errors(model.activated(logits), classes, {});
  if (kind == LossKind::kBinaryCrossEntropy) {
    return binary_cross_entropies(model.class_scores(logits), classes, {});
  }
  return logs.gather(1, classes.unsqueeze(1)).neg().squeeze(1);
}

}  // namespace stoker

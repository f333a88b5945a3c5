// The losses of tasks whose targets are numbers, one for each output: 0 or 1 (several labels) or
// standardised (regression). With x an output, y its target and p = σ(x):
//   bce         -y log p - (1 - y) log(1 - p)
//   focal       -y (1 - p)^γ log p - (1 - y) p^γ log(1 - p), γ 2 (Lin et al., 2017)
//   asymmetric  -y (1 - p)^γ₊ log p - (1 - y) q^γ₋ log(1 - q), q = max(p - c, 0), γ₊ 1, γ₋ 4,
//               c 0.05 (Ridnik et al., 2021)
//   mse         (x - y)²
//   huber       (x - y)² / 2 up to a distance of 1, beyond it |x - y| - 1/2
// A sample's loss is the mean over its outputs. Papers add outputs up instead; with the mean a
// learning rate suits any number of outputs. Label smoothing s makes y (1 - s) y + s / 2, as timm's
// binary cross entropy has it for two classes. Functions without state; autograd follows them.
#pragma once

#include <ATen/core/Tensor.h>

#include "stoker/core/task.h"
#include "stoker/nn/model.h"

namespace stoker {

// Of each sample. `outputs` and `targets` are (samples, outputs); of the options, the kind with its
// parameters, smoothing and class_weights, one for each output, count. Throws Error where the kind
// has no such targets, or numbers would be smoothed.
[[nodiscard]] at::Tensor target_losses(const at::Tensor& outputs, const at::Tensor& targets,
                                       const LossOptions& options);

// Of a batch: the mean over its samples with their weights, each against its own and its partner's
// targets; 0 without samples.
[[nodiscard]] at::Tensor mean_target_loss(const at::Tensor& outputs, const at::Tensor& targets,
                                          const LossOptions& options);

// What a network says of its samples, from what forward() gives: probabilities that add up to 1
// (kClassify), a probability for each class (kMultilabel), or the outputs themselves (kRegress,
// still standardised: nn/target_scale.h).
[[nodiscard]] at::Tensor predictions_of(Task task, const at::Tensor& logits);

}  // namespace stoker

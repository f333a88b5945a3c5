// The losses that a classifier is trained with. All are means over the batch's samples.
//   cross entropy:  -log p of the sample's class, p the probabilities (softmax of the logits)
//   squared error:  1/2 sum over the classes of (a - y)², a the activated output, y one-hot
//   binary cross entropy:  mean over the classes of -y log σ(x) - (1 - y) log(1 - σ(x)), x the
//                          scores (Model::class_scores), as timm's BinaryCrossEntropy has it
// With a sigmoid output the second has the slope (a - y) σ'(z), as the course has it.
//
// With a teacher the loss is (1 - α) of that and α of the teacher's part, for each sample:
//   soft:  T² KL(softmax(t / T) ‖ softmax(z / T)), t and z the logits of teacher and student
//          (Hinton et al., 2015)
//   hard:  the cross entropy against the class of the largest t (Touvron et al., 2021)
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>

#include "stoker/nn/loss_kind.h"
#include "stoker/nn/model.h"

namespace stoker {

// Rows like those of `outputs`, 1 at the label; the fraction `smoothing` is spread evenly.
[[nodiscard]] at::Tensor smoothed_onehot(const at::Tensor& labels, const at::Tensor& outputs,
                                         double smoothing);

// Whose samples were mixed in pairs has the weights of both, or of none.
void check_partner_weights(const LossOptions& options);

// loss(labels, weights) of a batch or, where its samples were mixed in pairs, of own and partners'
// labels with their shares. `weights` are the samples', if any.
template <typename Loss>
[[nodiscard]] at::Tensor mixed_loss(const at::Tensor& labels, const LossOptions& options,
                                    const Loss& loss) {
  at::Tensor own = loss(labels, options.sample_weights);
  if (!options.partner_labels.defined()) return own;
  check_partner_weights(options);
  return own * options.own_share +
         loss(options.partner_labels, options.partner_weights) * (1 - options.own_share);
}

// Of each sample, with smoothing and the classes' weights; `activations` are what the output layer
// gives. Autograd follows it.
[[nodiscard]] at::Tensor squared_errors(const at::Tensor& activations, const at::Tensor& labels,
                                        const LossOptions& options);

// The same sum's slope by the activations, for one label each.
[[nodiscard]] at::Tensor squared_error_slope(const at::Tensor& activations,
                                             const at::Tensor& labels, const LossOptions& options);

// Of each sample, with smoothing and the weight of its class. Autograd follows it.
[[nodiscard]] at::Tensor binary_cross_entropies(const at::Tensor& scores, const at::Tensor& labels,
                                                const LossOptions& options);

// What a classifier gives for a batch: forward()'s logits, and Model::class_scores() of them.
struct ClassOutputs {
  at::Tensor logits, scores;
};

// Of a batch against its labels and, if there is one, the teacher. 0 without samples. Sample
// weights count in both parts, weights of classes in the first alone: a teacher has no single
// class. Autograd follows it. Throws Error where the kind needs numbers as targets.
[[nodiscard]] at::Tensor mean_class_loss(const Model& model, const ClassOutputs& outputs,
                                         const at::Tensor& labels, const LossOptions& options);

// The teacher's part, of each sample; without weights.
[[nodiscard]] at::Tensor teacher_losses(const at::Tensor& logits, const at::Tensor& teacher_logits,
                                        const DistillOptions& options);

// As validation measures it: of each sample, one-hot targets, all classes alike. `logs` are the
// logarithms of the probabilities. A label of -1 (no class) counts as class 0.
[[nodiscard]] at::Tensor losses_of_samples(LossKind kind, const Model& model,
                                           const at::Tensor& logits, const at::Tensor& logs,
                                           const at::Tensor& labels);

}  // namespace stoker

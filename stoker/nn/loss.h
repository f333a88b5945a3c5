// The losses that a classifier is trained with. Both are means over the batch's samples.
//   cross entropy:  -log p of the sample's class, p the probabilities (softmax of the logits)
//   squared error:  1/2 sum over the classes of (a - y)², a the activated output, y one-hot
// With a sigmoid output the second has the slope (a - y) σ'(z), as the course has it.
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

// As validation measures it: of each sample, one-hot targets, all classes alike. `logs` are the
// logarithms of the probabilities. A label of -1 (no class) counts as class 0.
[[nodiscard]] at::Tensor losses_of_samples(LossKind kind, const Model& model,
                                           const at::Tensor& logits, const at::Tensor& logs,
                                           const at::Tensor& labels);

}  // namespace stoker

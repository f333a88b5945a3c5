// The optimisers: stochastic gradient descent with momentum, Adam, AdamW, Lion (Chen et al., 2023).
// The arithmetic is LibTorch's fused kernels, one pass over memory each, but for Lion. What they
// remember is kept here as named tensors, so that a checkpoint is a list of tensors.
#pragma once

#include <string>
#include <vector>

#include "stoker/nn/model.h"
#include "stoker/train/options.h"

namespace stoker {

class Optimiser {
 public:
  // Of stages in their order, the last one first in rate; shares their memory. Throws Error where
  // an option is out of range.
  Optimiser(const std::vector<ModelStage>& stages, const OptimiserOptions& options);

  // Moves the parameters against their gradients, which are forgotten then. A parameter without
  // one stays where it is.
  void step(double rate);

  // Divides all gradients by `scale`. False where one of them is not finite.
  [[nodiscard]] bool unscale_gradients(double scale);
  // As if there had been no backward pass since the last step.
  void forget_gradients();

  // Scales all gradients so that their common norm is at most `limit`; returns the norm before.
  double clip_gradients(double limit);

  // Everything that step() changes besides the parameters.
  [[nodiscard]] std::vector<NamedTensor> state() const;

 private:
  // Parameters with the same weight decay and fraction of the rate, and their moments.
  struct Group {
    double weight_decay = 0;
    double rate_share = 1;
    std::vector<std::string> names;
    std::vector<at::Tensor> parameters, first_moments, second_moments, steps;
  };
  [[nodiscard]] Group& group_of(double weight_decay, double rate_share);
  [[nodiscard]] std::vector<at::Tensor> gradients() const;
  void add(Group& group, const NamedTensor& parameter) const;
  void step_group(Group& group, double rate) const;
  [[nodiscard]] bool uses_momentum() const;

  OptimiserOptions options_;
  std::vector<Group> groups_;
};

}  // namespace stoker

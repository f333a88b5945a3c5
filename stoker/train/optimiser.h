// The optimisers: stochastic gradient descent with momentum, Adam, AdamW. The arithmetic is
// LibTorch's fused kernels, one pass over memory each; what they remember is kept here as named
// tensors, so that a checkpoint is a list of tensors.
#pragma once

#include <string>
#include <vector>

#include "stoker/nn/model.h"
#include "stoker/train/options.h"

namespace stoker {

class Optimiser {
 public:
  // Shares the parameters' memory. Throws Error where an option is out of range.
  Optimiser(const std::vector<NamedTensor>& parameters, const OptimiserOptions& options);

  // Moves the parameters against their gradients, which are forgotten then. A parameter without
  // one stays where it is.
  void step(double rate);

  // Scales all gradients so that their common norm is at most `limit`; returns the norm before.
  double clip_gradients(double limit);

  // Everything that step() changes besides the parameters.
  [[nodiscard]] std::vector<NamedTensor> state() const;

 private:
  // Parameters with the same weight decay, and their moments.
  struct Group {
    double weight_decay = 0;
    std::vector<std::string> names;
    std::vector<at::Tensor> parameters, first_moments, second_moments, steps;
  };
  void add(Group& group, const NamedTensor& parameter) const;
  void step_group(Group& group, double rate) const;
  [[nodiscard]] bool uses_momentum() const;

  OptimiserOptions options_;
  std::vector<Group> groups_;
};

}  // namespace stoker

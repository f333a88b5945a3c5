// A model's tensors as they are now, brought back at the end of a scope: for trying something out
// on a model that must not remember it.
#pragma once

#include <vector>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "stoker/nn/model.h"

namespace stoker {

class KeptWeights {
 public:
  explicit KeptWeights(const Model& model) : tensors_(all_tensors(model)) {
    for (const NamedTensor& named : tensors_) copies_.push_back(named.tensor.detach().clone());
  }
  ~KeptWeights() {
    const at::NoGradGuard no_grad;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      tensors_[i].tensor.copy_(copies_[i]);
      tensors_[i].tensor.mutable_grad().reset();
    }
  }
  KeptWeights(const KeptWeights&) = delete;
  KeptWeights& operator=(const KeptWeights&) = delete;

 private:
  std::vector<NamedTensor> tensors_;
  std::vector<at::Tensor> copies_;
};

}  // namespace stoker

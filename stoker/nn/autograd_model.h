// A model whose gradients autograd finds: it only says how logits are made.
#pragma once

#include "stoker/nn/model.h"

namespace stoker {

class AutogradModel : public Model {
 public:
  using Model::Model;
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const final;
  Pass backward(const at::Tensor& x, const at::Tensor& labels, const LossOptions& options) final;

 protected:
  // `x` lies on the model's device, in the order sample, row, column, channel.
  [[nodiscard]] virtual at::Tensor logits(const at::Tensor& x, bool training) const = 0;

 private:
  [[nodiscard]] at::Tensor prepared(const at::Tensor& x) const;
};

}  // namespace stoker

// A model whose gradients autograd finds: it says what each of its stages computes. Frozen stages
// run without autograd, so nothing is kept for, or computed by, a backward pass through them.
#pragma once

#include "stoker/nn/layers/layers.h"
#include "stoker/nn/model.h"

namespace stoker {

class AutogradModel : public Model {
 public:
  using Model::Model;
  void freeze(std::size_t count) final;
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const final;
  Pass backward(const at::Tensor& x, const at::Tensor& labels, const LossOptions& options) final;
  [[nodiscard]] at::Tensor features(const at::Tensor& x) const final;
  [[nodiscard]] at::Tensor forward_head(const at::Tensor& features) const final;
  Pass backward_head(const at::Tensor& features, const at::Tensor& labels,
                     const LossOptions& options) final;
  [[nodiscard]] at::Tensor class_activation(const at::Tensor& x,
                                            const at::Tensor& classes) const final;
  void compute_in(Precision precision) final { precision_ = precision; }
  [[nodiscard]] bool has_mixed_precision() const final { return true; }
  OnnxValue append_nodes(OnnxGraph& graph, const OnnxValue& x) const final;

 protected:
  // Tensors lie on the model's device, in the order sample, row, column, channel.
  [[nodiscard]] virtual std::size_t body_stages() const = 0;  // all but the head
  [[nodiscard]] virtual at::Tensor run_stage(std::size_t stage, const at::Tensor& x,
                                             const StageContext& context) const = 0;
  // What the head sees of the last of them: (samples, features).
  [[nodiscard]] virtual at::Tensor pooled(const at::Tensor& x) const = 0;
  [[nodiscard]] virtual const Linear& head() const = 0;
  // run_stage() as in use, and pooled(), as nodes of a graph.
  virtual OnnxValue append_stage(std::size_t stage, OnnxGraph& graph, const OnnxValue& x) const = 0;
  virtual OnnxValue append_pooled(OnnxGraph& graph, const OnnxValue& x) const = 0;
  // The fraction of features that training drops in front of the head.
  [[nodiscard]] virtual double dropout() const { return 0; }

 private:
  [[nodiscard]] at::Tensor prepared(const at::Tensor& x) const;
  // What the last stage of the body gives.
  [[nodiscard]] at::Tensor feature_map(const at::Tensor& x, const StageContext& context) const;
  [[nodiscard]] at::Tensor head_outputs(const at::Tensor& features,
                                        const std::optional<DrawKey>& draw) const;
  [[nodiscard]] at::Tensor class_loss(const at::Tensor& outputs, const at::Tensor& labels,
                                      const LossOptions& options) const;
  void check_features(const at::Tensor& features) const;
};

}  // namespace stoker

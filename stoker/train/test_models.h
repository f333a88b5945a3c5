// A model for tests whose device has memory for this many samples only.
#pragma once

#include <memory>

#include <ATen/ATen.h>

#include "stoker/nn/graph/graph_builder.h"
#include "stoker/nn/networks/registry.h"

namespace stoker::test {

class SmallMemoryModel final : public Model {
 public:
  explicit SmallMemoryModel(std::int64_t most_samples)
      : Model("mlp:180,16,2", {.image = {9, 20, 1}, .classes = 2}),
        inner_(make_model(architecture(), input(), 1)),
        most_samples_(most_samples) {}

  [[nodiscard]] std::int64_t multiply_adds() const override { return inner_->multiply_adds(); }
  [[nodiscard]] std::vector<ModelStage> stages() const override { return inner_->stages(); }
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const override {
    return inner_->forward(x);
  }
  Pass backward(const at::Tensor& x, const at::Tensor& labels,
                const LossOptions& options) override {
    // In the middle, so that there are gradients that must not count.
    const Pass pass = inner_->backward(x, labels, options);
    TORCH_CHECK_WITH(OutOfMemoryError, x.size(0) <= most_samples_, "no memory for ", x.size(0));
    return pass;
  }
  [[nodiscard]] at::Tensor features(const at::Tensor& x) const override {
    return inner_->features(x);
  }
  [[nodiscard]] at::Tensor forward_head(const at::Tensor& features) const override {
    return inner_->forward_head(features);
  }
  Pass backward_head(const at::Tensor& features, const at::Tensor& labels,
                     const LossOptions& options) override {
    return inner_->backward_head(features, labels, options);
  }

  GraphReference append_nodes(GraphBuilder& graph, GraphReference x) const override {
    return inner_->append_nodes(graph, x);
  }

 protected:
  void move_tensors(const at::Device& /*device*/) override {}

 private:
  std::unique_ptr<Model> inner_;
  std::int64_t most_samples_;
};

}  // namespace stoker::test

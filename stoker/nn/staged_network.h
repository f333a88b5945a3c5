// A network of stages, each of which sees what the one before gives.
#pragma once

#include <cstddef>

#include "stoker/nn/autograd_model.h"

namespace stoker {

class StagedNetwork : public AutogradModel {
 public:
  using AutogradModel::AutogradModel;

 protected:
  [[nodiscard]] virtual std::size_t body_stages() const = 0;  // all but the head
  [[nodiscard]] virtual at::Tensor run_stage(std::size_t stage, const at::Tensor& x,
                                             const StageContext& context) const = 0;
  // What the head sees of the last of them: (samples, features).
  [[nodiscard]] virtual at::Tensor pooled(const at::Tensor& x) const = 0;
  // run_stage() and pooled() as nodes of a graph.
  virtual GraphReference append_stage(std::size_t stage, GraphBuilder& graph,
                                      GraphReference x) const = 0;
  virtual GraphReference append_pooled(GraphBuilder& graph, GraphReference x) const = 0;

 private:
  [[nodiscard]] at::Tensor run_body(const at::Tensor& x, const StageContext& context) const final;
  [[nodiscard]] at::Tensor pool_map(const at::Tensor& map,
                                    const StageContext& /*context*/) const final {
    return pooled(map);
  }
  GraphReference append_features(GraphBuilder& graph, GraphReference x) const final;
};

}  // namespace stoker

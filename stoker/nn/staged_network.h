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
  // run_stage() as in use, and pooled(), as nodes of a graph.
  virtual OnnxValue append_stage(std::size_t stage, OnnxGraph& graph, const OnnxValue& x) const = 0;
  virtual OnnxValue append_pooled(OnnxGraph& graph, const OnnxValue& x) const = 0;

 private:
  [[nodiscard]] at::Tensor run_body(const at::Tensor& x, const StageContext& context) const final;
  [[nodiscard]] at::Tensor pool_map(const at::Tensor& map,
                                    const StageContext& /*context*/) const final {
    return pooled(map);
  }
  OnnxValue append_features(OnnxGraph& graph, const OnnxValue& x) const final;
};

}  // namespace stoker

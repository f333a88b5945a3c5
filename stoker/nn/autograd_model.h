// A model whose gradients autograd finds: it says what its body computes, and has a linear head.
// Frozen stages run without autograd, so nothing is kept for, or computed by, a backward pass
// through them.
#pragma once

#include <cstdint>
#include <vector>

#include <c10/core/MemoryFormat.h>

#include "stoker/nn/layers/layers.h"
#include "stoker/nn/model.h"

namespace stoker {

class AutogradModel : public Model {
 public:
  using Model::Model;
  void freeze(std::size_t count) final;
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const final;
  Pass backward(const at::Tensor& x, const at::Tensor& labels, const LossOptions& options) final;
  void note_statistics(const at::Tensor& x, const std::optional<DrawKey>& draw) final;
  [[nodiscard]] at::Tensor features(const at::Tensor& x) const final;
  [[nodiscard]] at::Tensor forward_head(const at::Tensor& features) const final;
  Pass backward_head(const at::Tensor& features, const at::Tensor& labels,
                     const LossOptions& options) final;
  [[nodiscard]] at::Tensor class_activation(const at::Tensor& x,
                                            const at::Tensor& classes) const final;
  // Whether the body has places of the image, as class_activation() needs.
  [[nodiscard]] virtual bool has_map() const { return true; }
  void compute_in(Precision precision) final { precision_ = precision; }
  [[nodiscard]] bool has_mixed_precision() const final { return true; }
  GraphReference append_nodes(GraphBuilder& graph, GraphReference x) const final;

 protected:
  // Tensors lie on the model's device.
  // What the body gives: a map of each image, or features. Called with autograd as training needs
  // it; stages that do not learn are the network's own care.
  [[nodiscard]] virtual at::Tensor run_body(const at::Tensor& x,
                                            const StageContext& context) const = 0;
  // What the head sees of that: (samples, features).
  [[nodiscard]] virtual at::Tensor pool_map(const at::Tensor& map,
                                            const StageContext& context) const = 0;
  [[nodiscard]] virtual const Linear& head() const = 0;
  // run_body() and pool_map() as nodes of a graph.
  virtual GraphReference append_features(GraphBuilder& graph, GraphReference x) const = 0;
  // The fraction of features that training drops in front of the head.
  [[nodiscard]] virtual double dropout() const { return 0; }
  // In which images are given to the body.
  [[nodiscard]] virtual at::MemoryFormat memory_format() const {
    return at::MemoryFormat::ChannelsLast;
  }
  // How to read the map of run_body().
  struct MapLayout {
    std::int64_t channels = 1;           // the dimension
    std::int64_t rows = 0, columns = 0;  // of tokens in one dimension; 0: the map has two
    std::int64_t first_token = 0;        // of those that are places of the image
  };
  [[nodiscard]] virtual MapLayout map_layout() const { return {}; }
  // The maps that class_activation() adds up: run_body()'s is the last, each comes from the one
  // before it by autograd, and the first is a leaf. `x` is prepared().
  [[nodiscard]] virtual std::vector<at::Tensor> activation_maps(const at::Tensor& x) const;

 private:
  [[nodiscard]] at::Tensor prepared(const at::Tensor& x) const;
  [[nodiscard]] at::Tensor head_outputs(const at::Tensor& features,
                                        const std::optional<DrawKey>& draw) const;
  void check_features(const at::Tensor& features) const;
};

}  // namespace stoker

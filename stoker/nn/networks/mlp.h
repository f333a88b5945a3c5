// The multi-layer perceptron of the assignments, described by its sizes: {784, 128, 10} has one
// hidden layer.
//
// The output's activation is part of the network. With kSoftmax the last layer's z are the logits.
// With kSigmoid, as the assignments have it ("sigmoid in every layer"), the activations are σ(z),
// and the logits are their logarithms: softmax(log a) = a / sum(a), so the probabilities that
// everybody takes from logits are the activations divided by their sum, in the same order of
// classes.
//
// Its backward pass is written out, with the building blocks of blocks.h; a test holds it against
// autograd's, and a benchmark shows that it is the faster one. Not shared between threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "stoker/nn/layers/blocks.h"
#include "stoker/nn/model.h"

namespace stoker {

enum class Activation : std::uint8_t { kSigmoid, kRelu };
enum class OutputActivation : std::uint8_t { kSoftmax, kSigmoid };

struct MlpParameters {
  std::vector<at::Tensor> weights;  // (size_i, size_{i+1})
  std::vector<at::Tensor> biases;   // size_{i+1}
};

class Mlp final : public Model {
 public:
  // For samples of size_0 values, in one row.
  Mlp(const LayerSizes& sizes, Activation activation, std::uint64_t seed,
      OutputActivation output = OutputActivation::kSoftmax);
  // For images of size_0 values; Error where they have another number, or the classes do.
  Mlp(const LayerSizes& sizes, Activation activation, std::uint64_t seed, const ModelInput& input,
      OutputActivation output = OutputActivation::kSoftmax);

  [[nodiscard]] std::int64_t multiply_adds() const override;
  // Each layer is one.
  [[nodiscard]] std::vector<ModelStage> stages() const override;
  // Any dimensions of a sample after the first are flattened.
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const override;
  [[nodiscard]] at::Tensor activated(const at::Tensor& logits) const override;
  [[nodiscard]] at::Tensor class_scores(const at::Tensor& logits) const override;
  Pass backward(const at::Tensor& x, const at::Tensor& labels, const LossOptions& options) override;
  [[nodiscard]] at::Tensor features(const at::Tensor& x) const override;
  [[nodiscard]] at::Tensor forward_head(const at::Tensor& features) const override;
  Pass backward_head(const at::Tensor& features, const at::Tensor& labels,
                     const LossOptions& options) override;
  GraphReference append_nodes(GraphBuilder& graph, GraphReference x) const override;

  [[nodiscard]] const LayerSizes& sizes() const noexcept { return sizes_; }
  [[nodiscard]] Activation activation() const noexcept { return activation_; }
  [[nodiscard]] OutputActivation output() const noexcept { return output_; }
  [[nodiscard]] MlpParameters& layers() noexcept { return layers_; }
  [[nodiscard]] const MlpParameters& layers() const noexcept { return layers_; }

 protected:
  void move_tensors(const at::Device& device) override;

 private:
  struct LossAndSlope {
    at::Tensor logits;
    at::Tensor loss;
    at::Tensor slope;  // by the last layer's z, with the batch's weight
  };
  [[nodiscard]] at::Tensor logits_of(const at::Tensor& z) const;
  [[nodiscard]] LossAndSlope loss_of(const at::Tensor& z, const at::Tensor& labels,
                                     const LossOptions& options) const;
  [[nodiscard]] LossAndSlope target_loss_of(const at::Tensor& z, const at::Tensor& targets,
                                            const LossOptions& options) const;
  [[nodiscard]] LossAndSlope class_loss_of(const at::Tensor& z, const at::Tensor& labels,
                                           const LossOptions& options) const;
  [[nodiscard]] at::Tensor squared_error_slope_by_z(const at::Tensor& z, const at::Tensor& a,
                                                    const at::Tensor& labels,
                                                    const LossOptions& options) const;
  [[nodiscard]] at::Tensor activate(const at::Tensor& z) const;
  [[nodiscard]] at::Tensor activate_prime(const at::Tensor& z, const at::Tensor& a) const;
  [[nodiscard]] at::Tensor flattened(const at::Tensor& x) const;
  void add_layer_gradient(std::size_t layer, const at::Tensor& inputs, const at::Tensor& d);

  LayerSizes sizes_;
  Activation activation_;
  OutputActivation output_;
  MlpParameters layers_;
};

}  // namespace stoker

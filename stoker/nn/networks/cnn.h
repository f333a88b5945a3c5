// A small convolutional network, described by its channels: {16, 32, 64} is three stages of a 3x3
// convolution, batch normalisation and ReLU, with the image halved between them; then one linear
// layer on all that is left of it, averaged down to 7x7 where it is larger. 28x28 becomes just 7x7.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/nn/layers/layers.h"
#include "stoker/nn/staged_network.h"

namespace stoker {

class Cnn final : public StagedNetwork {
 public:
  Cnn(const std::string& architecture, const std::vector<std::int64_t>& channels,
      const ModelInput& input, std::uint64_t seed);

  [[nodiscard]] std::int64_t multiply_adds() const override;
  [[nodiscard]] std::vector<ModelStage> stages() const override;

 protected:
  void move_tensors(const at::Device& device) override;
  [[nodiscard]] std::size_t body_stages() const override { return stages_.size(); }
  [[nodiscard]] at::Tensor run_stage(std::size_t stage, const at::Tensor& x,
                                     const StageContext& context) const override;
  [[nodiscard]] at::Tensor pooled(const at::Tensor& x) const override;
  [[nodiscard]] const Linear& head() const override { return head_; }
  GraphReference append_stage(std::size_t stage, GraphBuilder& graph,
                              GraphReference x) const override;
  GraphReference append_pooled(GraphBuilder& graph, GraphReference x) const override;

 private:
  struct Stage {
    Convolution convolution;
    BatchNorm norm;
  };
  std::vector<Stage> stages_;
  std::int64_t head_height_ = 1, head_width_ = 1;  // of the image that the head sees
  Linear head_;
};

}  // namespace stoker

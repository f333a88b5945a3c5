// A network of stages of residual blocks, then the mean over the image, then one linear layer:
// what ResNet and MobileNetV2 have in common. resnet.h and mobilenet.h say which blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/nn/layers/layers.h"
#include "stoker/nn/layers/residual_block.h"
#include "stoker/nn/staged_network.h"

namespace stoker {

struct ResidualStage {
  std::string name;
  std::vector<ResidualBlock> blocks;
  bool halves_after = false;  // by the largest of each 3x3
};

struct ResidualParts {
  std::vector<ResidualStage> body;
  std::string head_name;
  Linear head;
  double dropout = 0;  // in front of the head, in training
};

class ResidualNetwork final : public StagedNetwork {
 public:
  ResidualNetwork(const std::string& architecture, const ModelInput& input, ResidualParts parts);

  [[nodiscard]] std::int64_t multiply_adds() const override;
  [[nodiscard]] std::vector<ModelStage> stages() const override;

 protected:
  void move_tensors(const at::Device& device) override;
  [[nodiscard]] std::size_t body_stages() const override { return parts_.body.size(); }
  [[nodiscard]] at::Tensor run_stage(std::size_t stage, const at::Tensor& x,
                                     const StageContext& context) const override;
  [[nodiscard]] at::Tensor pooled(const at::Tensor& x) const override;
  [[nodiscard]] const Linear& head() const override { return parts_.head; }
  [[nodiscard]] double dropout() const override { return parts_.dropout; }
  GraphReference append_stage(std::size_t stage, GraphBuilder& graph,
                              GraphReference x) const override;
  GraphReference append_pooled(GraphBuilder& graph, GraphReference x) const override;

 private:
  ResidualParts parts_;
};

// Throws Error unless images have three channels and at least 32x32 pixels, which five halvings
// leave one of. To be called before memory is taken for weights.
void check_residual_input(const std::string& architecture, const ModelInput& input);

}  // namespace stoker

// A network of LibTorch's modules, as a program registers it (stoker/network.h), with a head of our
// own behind it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stoker/network.h"
#include "stoker/nn/layers/layers.h"
#include "stoker/nn/staged_network.h"

namespace stoker {

class TorchNetwork final : public StagedNetwork {
 public:
  // `head` takes what the network's stages give.
  TorchNetwork(const std::string& architecture, const ModelInput& input, Network network,
               Linear head, std::int64_t multiply_adds);

  [[nodiscard]] std::int64_t multiply_adds() const override { return multiply_adds_; }
  [[nodiscard]] std::vector<ModelStage> stages() const override;
  [[nodiscard]] bool has_graph() const override { return false; }

 protected:
  void move_tensors(const at::Device& device) override;
  [[nodiscard]] std::size_t body_stages() const override { return network_.stages.size(); }
  // Error where statistics are to be shared among ranks, which LibTorch's batch norms cannot.
  [[nodiscard]] at::Tensor run_stage(std::size_t stage, const at::Tensor& x,
                                     const StageContext& context) const override;
  [[nodiscard]] at::Tensor pooled(const at::Tensor& x) const override;
  [[nodiscard]] const Linear& head() const override { return head_; }
  [[nodiscard]] double dropout() const override { return network_.dropout; }
  // Error: modules do not say what they compute.
  GraphReference append_stage(std::size_t stage, GraphBuilder& graph,
                              GraphReference x) const override;
  GraphReference append_pooled(GraphBuilder& graph, GraphReference x) const override;

 private:
  Network network_;
  std::vector<ModelStage> tensors_;  // of the body; modules keep theirs when they are moved
  Linear head_;
  std::int64_t multiply_adds_;
};

// Makes the family's network, checks it, draws its weights by the seed and tries it out on two
// black images. Throws Error where it cannot be trained as a Model is.
[[nodiscard]] std::unique_ptr<Model> make_torch_network(const NetworkFamily& family,
                                                        const std::string& architecture,
                                                        const std::string& details,
                                                        const ModelInput& input,
                                                        std::uint64_t seed);

}  // namespace stoker

#include "stoker/nn/networks/residual_network.h"

#include <algorithm>
#include <utility>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/nn/graph/graph_builder.h"

namespace stoker {

ResidualNetwork::ResidualNetwork(const std::string& architecture, const ModelInput& input,
                                 ResidualParts parts)
    : StagedNetwork(architecture, input), parts_(std::move(parts)) {}

std::int64_t ResidualNetwork::multiply_adds() const {
  std::int64_t sum = parts_.head.weight.numel();
  ImageSize size{input().image.height, input().image.width};
  for (const ResidualStage& stage : parts_.body) {
    for (const ResidualBlock& block : stage.blocks) sum += block.multiply_adds(size);
    if (stage.halves_after) size = size.strided(2);
  }
  return sum;
}

std::vector<ModelStage> ResidualNetwork::stages() const {
  std::vector<ModelStage> all;
  for (const ResidualStage& stage : parts_.body) {
    ModelStage& tensors = all.emplace_back(ModelStage{stage.name, {}});
    for (const ResidualBlock& block : stage.blocks) block.append_to(tensors);
  }
  ModelStage& last = all.emplace_back(ModelStage{parts_.head_name, {}});
  parts_.head.append_parameters(parts_.head_name, last.parameters);
  return all;
}

at::Tensor ResidualNetwork::run_stage(std::size_t stage, const at::Tensor& x,
                                      const StageContext& context) const {
  at::Tensor a = x;
  for (const ResidualBlock& block : parts_.body[stage].blocks) a = block(a, context);
  if (!parts_.body[stage].halves_after) return a;
  return at::max_pool2d(a, /*kernel_size=*/3, /*stride=*/2, /*padding=*/1);
}

at::Tensor ResidualNetwork::pooled(const at::Tensor& x) const {
  return at::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
}

GraphReference ResidualNetwork::append_stage(std::size_t stage, GraphBuilder& graph,
                                             GraphReference x) const {
  GraphReference a = x;
  for (const ResidualBlock& block : parts_.body[stage].blocks) a = block.append_nodes(graph, a);
  if (!parts_.body[stage].halves_after) return a;
  return graph.max_pool(a, {.side = 3, .stride = 2, .padding = 1});
}

GraphReference ResidualNetwork::append_pooled(GraphBuilder& graph, GraphReference x) const {
  return graph.flatten(graph.average_pool(x, 1, 1), 1);
}

void ResidualNetwork::move_tensors(const at::Device& device) {
  for (ResidualStage& stage : parts_.body) {
    for (ResidualBlock& block : stage.blocks) block.to(device);
  }
  parts_.head.to(device);
}

void check_residual_input(const std::string& architecture, const ModelInput& input) {
  constexpr int kLeastSide = 32;
  const ImageShape& image = input.image;
  if (image.channels == 3 && std::min(image.height, image.width) >= kLeastSide) return;
  throw Error({.what = fmt::format("{} does not fit the data", architecture),
               .expected = fmt::format("images of at least {}x{}x3", kLeastSide, kLeastSide),
               .found = shape_text(image),
               .hint = "cnn:small takes images of any size and channels"});
}

}  // namespace stoker

#include "stoker/nn/networks/mobilenet.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/nn/layers/initial_weights.h"
#include "stoker/nn/networks/residual_network.h"

namespace stoker {
namespace {

constexpr std::int64_t kFirstChannels = 32, kFeatures = 1280;
constexpr double kDropout = 0.2;
constexpr double kHeadDeviation = 0.01;

// Table 2 of the paper: blocks in a row, of which the first may halve the image.
struct Row {
  std::int64_t expansion, channels;
  int blocks;
  std::int64_t stride;
};
constexpr Row kRows[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                         {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

ConvNorm rectified_layer(const std::string& name, ConvNormShape shape, LayerSeed& seed) {
  shape.rectifier = Rectifier::kRelu6;
  return {name + ".0", name + ".1", shape, seed};
}

struct BlockShape {
  std::int64_t inputs, outputs, expansion, stride;
};

// Wider, each channel by itself, narrower without a rectifier.
ResidualBlock make_block(const std::string& name, const BlockShape& s, LayerSeed& seed) {
  const std::int64_t wide = s.inputs * s.expansion;
  ResidualBlock block{.path = {}, .adds_input = s.stride == 1 && s.inputs == s.outputs};
  const auto next = [&] { return fmt::format("{}.conv.{}", name, block.path.size()); };
  if (s.expansion != 1) {
    block.path.push_back(rectified_layer(next(), {.inputs = s.inputs, .outputs = wide}, seed));
  }
  block.path.push_back(rectified_layer(
      next(), {.inputs = wide, .outputs = wide, .side = 3, .stride = s.stride, .groups = wide},
      seed));
  block.path.emplace_back(next(), fmt::format("{}.conv.{}", name, block.path.size() + 1),
                          ConvNormShape{.inputs = wide, .outputs = s.outputs}, seed);
  return block;
}

// Appends a stage of one block, named by its number.
ResidualBlock& add_stage(std::vector<ResidualStage>& body) {
  ResidualStage& stage = body.emplace_back();
  stage.name = fmt::format("features.{}", body.size() - 1);
  return stage.blocks.emplace_back();
}

std::vector<ResidualStage> make_body(LayerSeed& seed) {
  std::vector<ResidualStage> body;
  const auto add_layer = [&](const ConvNormShape& shape) {
    ResidualBlock& block = add_stage(body);
    block.path.push_back(rectified_layer(body.back().name, shape, seed));
  };
  add_layer({.inputs = 3, .outputs = kFirstChannels, .side = 3, .stride = 2});
  std::int64_t inputs = kFirstChannels;
  for (const Row& row : kRows) {
    for (int number = 0; number < row.blocks; ++number) {
      ResidualBlock& block = add_stage(body);
      block = make_block(body.back().name,
                         {inputs, row.channels, row.expansion, number == 0 ? row.stride : 1}, seed);
      inputs = row.channels;
    }
  }
  add_layer({.inputs = inputs, .outputs = kFeatures});
  return body;
}

}  // namespace

std::unique_ptr<Model> make_mobilenet_v2(const ModelInput& input, std::uint64_t seed) {
  const std::string architecture = "mobilenet_v2";
  check_residual_input(architecture, input);
  LayerSeed layers{.seed = seed};
  std::vector<ResidualStage> body = make_body(layers);
  const at::Tensor weights =
      normal_weights({input.classes, kFeatures}, kHeadDeviation, layers.seed, layers.next_layer++);
  return std::make_unique<ResidualNetwork>(
      architecture, input,
      ResidualParts{.body = std::move(body),
                    .head_name = "classifier.1",
                    .head = Linear(weights, at::zeros({input.classes})),
                    .dropout = kDropout});
}

}  // namespace stoker

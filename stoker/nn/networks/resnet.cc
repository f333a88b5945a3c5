#include "stoker/nn/networks/resnet.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "stoker/core/invariant.h"
#include "stoker/nn/layers/initial_weights.h"
#include "stoker/nn/networks/residual_network.h"

namespace stoker {
namespace {

struct Depth {
  int depth;
  bool bottlenecks;
  std::array<int, 4> blocks;  // of each layer
};
constexpr Depth kDepths[] = {{18, false, {2, 2, 2, 2}},
                             {34, false, {3, 4, 6, 3}},
                             {50, true, {3, 4, 6, 3}},
                             {101, true, {3, 4, 23, 3}}};

const Depth& find_depth(int depth) {
  for (const Depth& known : kDepths) {
    if (known.depth == depth) return known;
  }
  STOKER_INVARIANT(false, "no ResNet of depth {}", depth);
}

struct ResNetBlockShape {
  std::int64_t inputs, width, outputs, stride;
};

// Each layer of the path, numbered from 1.
std::vector<ConvNorm> make_path(const std::string& name, std::vector<ConvNormShape> shapes,
                                LayerSeed& seed) {
  std::vector<ConvNorm> path;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (i + 1 < shapes.size()) shapes[i].rectifier = Rectifier::kRelu;
    path.emplace_back(fmt::format("{}.conv{}", name, i + 1), fmt::format("{}.bn{}", name, i + 1),
                      shapes[i], seed);
  }
  return path;
}

ResidualBlock make_block(const std::string& name, const ResNetBlockShape& s, bool bottleneck,
                         LayerSeed& seed) {
  std::vector<ConvNormShape> shapes;
  if (bottleneck) {
    shapes = {{.inputs = s.inputs, .outputs = s.width},
              {.inputs = s.width, .outputs = s.width, .side = 3, .stride = s.stride},
              {.inputs = s.width, .outputs = s.outputs}};
  } else {
    shapes = {{.inputs = s.inputs, .outputs = s.width, .side = 3, .stride = s.stride},
              {.inputs = s.width, .outputs = s.outputs, .side = 3}};
  }
  ResidualBlock block{
      .path = make_path(name, shapes, seed), .adds_input = true, .rectifier = Rectifier::kRelu};
  if (s.stride != 1 || s.inputs != s.outputs) {
    block.projection.emplace(
        name + ".downsample.0", name + ".downsample.1",
        ConvNormShape{.inputs = s.inputs, .outputs = s.outputs, .stride = s.stride}, seed);
  }
  return block;
}

ResidualStage make_stem(std::int64_t outputs, LayerSeed& seed) {
  ResidualStage stem{.name = "conv1", .blocks = {}, .halves_after = true};
  ResidualBlock& block = stem.blocks.emplace_back();
  block.path.emplace_back(
      "conv1", "bn1",
      ConvNormShape{
          .inputs = 3, .outputs = outputs, .side = 7, .stride = 2, .rectifier = Rectifier::kRelu},
      seed);
  return stem;
}

// As LibTorch starts a linear layer: weights and biases uniform.
Linear make_head(std::int64_t inputs, std::int64_t classes, LayerSeed& seed) {
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  const at::Tensor weights =
      uniform_weights({classes, inputs}, bound, seed.seed, seed.next_layer++);
  return {weights, uniform_weights({classes}, bound, seed.seed, seed.next_layer++)};
}

}  // namespace

std::unique_ptr<Model> make_resnet(int depth, const ModelInput& input, std::uint64_t seed) {
  constexpr std::int64_t kFirstWidth = 64;
  const std::string architecture = fmt::format("resnet{}", depth);
  check_residual_input(architecture, input);
  const Depth& known = find_depth(depth);
  const std::int64_t expansion = known.bottlenecks ? 4 : 1;
  LayerSeed layers{.seed = seed};
  std::vector<ResidualStage> body;
  body.push_back(make_stem(kFirstWidth, layers));
  std::int64_t inputs = kFirstWidth;
  for (std::size_t i = 0; i < known.blocks.size(); ++i) {
    const std::int64_t width = kFirstWidth << i;
    ResidualStage& stage = body.emplace_back();
    stage.name = fmt::format("layer{}", i + 1);
    for (int number = 0; number < known.blocks[i]; ++number) {
      const ResNetBlockShape shape{inputs, width, width * expansion, number == 0 && i > 0 ? 2 : 1};
      stage.blocks.push_back(
          make_block(fmt::format("{}.{}", stage.name, number), shape, known.bottlenecks, layers));
      inputs = shape.outputs;
    }
  }
  return std::make_unique<ResidualNetwork>(
      architecture, input,
      ResidualParts{.body = std::move(body),
                    .head_name = "fc",
                    .head = make_head(inputs, input.classes, layers)});
}

}  // namespace stoker

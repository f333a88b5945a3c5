// ConvNeXt (Liu et al., 2022): blocks of a 7x7 convolution for each channel, a layer norm and two
// dense layers. timm's networks and tensor names; torchvision has tiny, small and base.
#include <array>

#include <fmt/format.h>

#include "stoker/nn/families/built_families.h"
#include "stoker/nn/families/family_layers.h"

namespace stoker {
namespace {

constexpr double kConvNextEpsilon = 1e-6, kConvNextDeviation = 0.02, kLayerScale = 1e-6;
constexpr std::size_t kConvNextStages = 4;

struct ConvNextRow {
  const char* name;
  std::array<int, kConvNextStages> depths;
  std::array<std::int64_t, kConvNextStages> widths;
  bool
      convolves;  // dense layers are convolutions of 1x1: the same numbers, another order in memory
};
constexpr std::array<ConvNextRow, 7> kConvNexts = {
    {{"convnext_atto", {2, 2, 6, 2}, {40, 80, 160, 320}, true},
     {"convnext_femto", {2, 2, 6, 2}, {48, 96, 192, 384}, true},
     {"convnext_pico", {2, 2, 6, 2}, {64, 128, 256, 512}, true},
     {"convnext_nano", {2, 2, 8, 2}, {80, 160, 320, 640}, true},
     {"convnext_tiny", {3, 3, 9, 3}, {96, 192, 384, 768}, false},
     {"convnext_small", {3, 3, 27, 3}, {96, 192, 384, 768}, false},
     {"convnext_base", {3, 3, 27, 3}, {128, 256, 512, 1024}, false}}};

struct ConvNextBlock {
  std::string name, other;
  std::int64_t width = 0;
  bool convolves = false;
  double drop_path = 0;
};

GraphReference dense_layers(GraphBuilder& b, GraphReference x, const ConvNextBlock& block) {
  const std::string first = b.named(block.name + ".mlp.fc1", block.other + ".block.3"),
                    second = b.named(block.name + ".mlp.fc2", block.other + ".block.5");
  const std::int64_t wide = 4 * block.width;
  const InitialValues initial = normal_start(kConvNextDeviation);
  if (!block.convolves) {
    x = b.activation("aten::gelu", b.linear(first, x, block.width, wide, initial));
    return b.linear(second, x, wide, block.width, initial);
  }
  const auto dense = [&](const std::string& name, std::int64_t inputs, std::int64_t outputs) {
    x = b.convolution(name, x,
                      {.inputs = inputs, .outputs = outputs, .bias = true, .initial = initial});
  };
  dense(first, block.width, wide);
  x = b.activation("aten::gelu", x);
  dense(second, wide, block.width);
  return x;
}

GraphReference add_block(GraphBuilder& b, GraphReference x, const ConvNextBlock& block) {
  const GraphReference shortcut = x;
  x = b.convolution(b.named(block.name + ".conv_dw", block.other + ".block.0"), x,
                    {.inputs = block.width,
                     .outputs = block.width,
                     .side = 7,
                     .groups = block.width,
                     .bias = true,
                     .initial = normal_start(kConvNextDeviation)});
  const std::string norm = b.named(block.name + ".norm", block.other + ".block.2");
  if (block.convolves) {
    x = dense_layers(b, channel_norm(b, norm, x, block.width, kConvNextEpsilon), block);
  } else {
    x = b.layer_norm(norm, b.permute(x, {0, 2, 3, 1}), block.width, kConvNextEpsilon);
    x = b.permute(dense_layers(b, x, block), {0, 3, 1, 2});
  }
  const GraphReference gamma =
      b.parameter(b.named(block.name + ".gamma", block.other + ".layer_scale"),
                  {.shape = {block.width}, .initial = {.value = kLayerScale}});
  x = b.multiply(
      x, b.reshape(gamma, {std::int64_t{1}, std::int64_t{-1}, std::int64_t{1}, std::int64_t{1}}));
  return b.add(b.drop_path(x, block.drop_path, 4), shortcut);
}

GraphReference halve(GraphBuilder& b, GraphReference x, std::size_t stage, const ConvNextRow& row) {
  const auto name = [&](int layer) {
    return b.named(fmt::format("stages.{}.downsample.{}", stage, layer),
                   fmt::format("features.{}.{}", 2 * stage, layer));
  };
  x = channel_norm(b, name(0), x, row.widths[stage - 1], kConvNextEpsilon);
  return b.convolution(name(1), x,
                       {.inputs = row.widths[stage - 1],
                        .outputs = row.widths[stage],
                        .side = 2,
                        .stride = 2,
                        .padding = 0,
                        .bias = true,
                        .initial = normal_start(kConvNextDeviation)});
}

BuiltGraph build_convnext(const std::string& member, const ModelInput& input, double drop_path) {
  const ConvNextRow& row = row_of(kConvNexts, member);
  GraphBuilder b;
  GraphReference x = b.convolution(b.named("stem.0", "features.0.0"), b.images(),
                                   {.inputs = input.image.channels,
                                    .outputs = row.widths[0],
                                    .side = 4,
                                    .stride = 4,
                                    .padding = 0,
                                    .bias = true,
                                    .initial = normal_start(kConvNextDeviation)});
  x = channel_norm(b, b.named("stem.1", "features.0.1"), x, row.widths[0], kConvNextEpsilon);
  int blocks = 0, before = 0;
  for (const int depth : row.depths) blocks += depth;
  for (std::size_t stage = 0; stage < kConvNextStages; ++stage) {
    if (stage > 0) x = halve(b, x, stage, row);
    for (int number = 0; number < row.depths[stage]; ++number) {
      x = add_block(b, x,
                    {.name = fmt::format("stages.{}.blocks.{}", stage, number),
                     .other = fmt::format("features.{}.{}", 2 * stage + 1, number),
                     .width = row.widths[stage],
                     .convolves = row.convolves,
                     .drop_path = drop_path * before++ / (blocks - 1)});
    }
  }
  const std::int64_t width = row.widths[kConvNextStages - 1];
  x = channel_norm(b, b.named("head.norm", "classifier.0"), b.average_pool(x, 1, 1), width,
                   kConvNextEpsilon);
  return b.finish(b.linear(b.named("head.fc", "classifier.2"), b.flatten(x, 1), width,
                           input.classes, normal_start(kConvNextDeviation)));
}

}  // namespace

BuiltFamily convnext_family() {
  return {.family = {.name = "convnext",
                     .usage = "convnext_atto|femto|pico|nano|tiny|small|base",
                     .summary = "timm's, 3.7 to 88.6 million parameters",
                     .members = names_in(kConvNexts)},
          .drops_paths = true,
          .build = build_convnext};
}

}  // namespace stoker

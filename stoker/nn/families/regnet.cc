// RegNetY (Radosavovic et al., 2020) of 400 million to 8 billion multiply-adds: residual blocks of
// grouped convolutions with squeeze and excitation. torchvision's networks and tensor names.
#include <array>

#include <fmt/format.h>

#include "stoker/nn/families/built_families.h"
#include "stoker/nn/families/family_layers.h"

namespace stoker {
namespace {

constexpr std::int64_t kRegNetFirst = 32;
constexpr std::size_t kRegNetStages = 4;
constexpr double kRegNetDeviation = 0.01;

struct RegNetRow {
  const char* name;
  std::array<int, kRegNetStages> depths;
  std::array<std::int64_t, kRegNetStages> widths;
  std::int64_t group;  // channels
};
constexpr std::array<RegNetRow, 5> kRegNets = {
    {{"regnet_y_400mf", {1, 3, 6, 6}, {48, 104, 208, 440}, 8},
     {"regnet_y_800mf", {1, 3, 8, 2}, {64, 144, 320, 784}, 16},
     {"regnet_y_1_6gf", {2, 6, 17, 2}, {48, 120, 336, 888}, 24},
     {"regnet_y_3_2gf", {2, 5, 13, 1}, {72, 216, 576, 1512}, 24},
     {"regnet_y_8gf", {2, 4, 10, 1}, {224, 448, 896, 2016}, 56}}};

struct RegNetBlock {
  std::string name, other;
  std::int64_t inputs = 0, outputs = 0, stride = 1, group = 1;
  double drop_path = 0;
};

GraphReference add_regnet_block(GraphBuilder& b, GraphReference x, const RegNetBlock& block) {
  const auto layer = [&](const char* ours, const char* timm, GraphReference of,
                         const ConvolutionShape& shape, const char* activation) {
    const std::string name = block.name + ours, other = block.other + timm;
    return normed_convolution(b, of,
                              {.convolution = b.named(name + ".0", other + ".conv"),
                               .norm = b.named(name + ".1", other + ".bn"),
                               .shape = shape,
                               .activation = activation});
  };
  const bool projects = block.inputs != block.outputs || block.stride != 1;
  const std::int64_t width = block.outputs;
  GraphReference shortcut = x;
  if (projects) {
    shortcut = layer(".proj", ".downsample", x,
                     {.inputs = block.inputs, .outputs = width, .stride = block.stride}, "");
  }
  x = layer(".f.a", ".conv1", x, {.inputs = block.inputs, .outputs = width}, "aten::relu_");
  x = layer(".f.b", ".conv2", x,
            {.inputs = width,
             .outputs = width,
             .side = 3,
             .stride = block.stride,
             .groups = width / block.group},
            "aten::relu_");
  x = excite(b, x,
             {.narrow = b.named(block.name + ".f.se.fc1", block.other + ".se.fc1"),
              .widen = b.named(block.name + ".f.se.fc2", block.other + ".se.fc2"),
              .channels = width,
              .squeezed = block.inputs / 4,
              .activation = "aten::relu",
              .gate = "aten::sigmoid",
              .torch_bias = true});
  x = layer(".f.c", ".conv3", x, {.inputs = width, .outputs = width}, "");
  return b.activation("aten::relu_", b.add(shortcut, b.drop_path(x, block.drop_path, 4)));
}

BuiltGraph build_regnet(const std::string& member, const ModelInput& input, double drop_path) {
  const RegNetRow& row = row_of(kRegNets, member);
  GraphBuilder b;
  GraphReference x = normed_convolution(
      b, b.images(),
      {.convolution = b.named("stem.0", "stem.conv"),
       .norm = b.named("stem.1", "stem.bn"),
       .shape = {.inputs = input.image.channels, .outputs = kRegNetFirst, .side = 3, .stride = 2},
       .activation = "aten::relu_"});
  int blocks = 0, before = 0;
  for (const int depth : row.depths) blocks += depth;
  std::int64_t inputs = kRegNetFirst;
  for (std::size_t stage = 0; stage < kRegNetStages; ++stage) {
    for (int number = 0; number < row.depths[stage]; ++number) {
      x = add_regnet_block(
          b, x,
          {.name = fmt::format("trunk_output.block{0}.block{0}-{1}", stage + 1, number),
           .other = fmt::format("s{}.b{}", stage + 1, number + 1),
           .inputs = inputs,
           .outputs = row.widths[stage],
           .stride = number == 0 ? 2 : 1,
           .group = row.group,
           .drop_path = drop_path * before++ / (blocks - 1)});
      inputs = row.widths[stage];
    }
  }
  x = b.flatten(b.average_pool(x, 1, 1), 1);
  return b.finish(
      b.linear(b.named("fc", "head.fc"), x, inputs, input.classes, normal_start(kRegNetDeviation)));
}

}  // namespace

BuiltFamily regnet_family() {
  return {.family = {.name = "regnet_y",
                     .usage = "regnet_y_400mf|800mf|1_6gf|3_2gf|8gf",
                     .summary = "torchvision's, 4.3 to 39.4 million parameters",
                     .members = names_in(kRegNets)},
          .drops_paths = true,
          .build = build_regnet};
}

}  // namespace stoker

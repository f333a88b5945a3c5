// MobileNetV3 (Howard et al., 2019), small and large. torchvision's networks and tensor names.
#include <array>
#include <span>

#include <fmt/format.h>

#include "stoker/nn/families/built_families.h"
#include "stoker/nn/families/inverted_residual.h"

namespace stoker {
namespace {

constexpr std::int64_t kMobileFirst = 16;
constexpr double kMobileDropout = 0.2, kMobileDeviation = 0.01;
constexpr BatchNormShape kMobileNorm = {.epsilon = 1e-3, .momentum = 0.01};

// Tables 1 and 2 of the paper.
struct MobileBlock {
  std::int64_t side, wide, outputs;
  bool excites, swishes;  // hard swish, else a rectifier
  std::int64_t stride;
};
constexpr std::array<MobileBlock, 15> kLargeBlocks = {{{3, 16, 16, false, false, 1},
                                                       {3, 64, 24, false, false, 2},
                                                       {3, 72, 24, false, false, 1},
                                                       {5, 72, 40, true, false, 2},
                                                       {5, 120, 40, true, false, 1},
                                                       {5, 120, 40, true, false, 1},
                                                       {3, 240, 80, false, true, 2},
                                                       {3, 200, 80, false, true, 1},
                                                       {3, 184, 80, false, true, 1},
                                                       {3, 184, 80, false, true, 1},
                                                       {3, 480, 112, true, true, 1},
                                                       {3, 672, 112, true, true, 1},
                                                       {5, 672, 160, true, true, 2},
                                                       {5, 960, 160, true, true, 1},
                                                       {5, 960, 160, true, true, 1}}};
constexpr std::array<MobileBlock, 11> kSmallBlocks = {{{3, 16, 16, true, false, 2},
                                                       {3, 72, 24, false, false, 2},
                                                       {3, 88, 24, false, false, 1},
                                                       {5, 96, 40, true, true, 2},
                                                       {5, 240, 40, true, true, 1},
                                                       {5, 240, 40, true, true, 1},
                                                       {5, 120, 48, true, true, 1},
                                                       {5, 144, 48, true, true, 1},
                                                       {5, 288, 96, true, true, 2},
                                                       {5, 576, 96, true, true, 1},
                                                       {5, 576, 96, true, true, 1}}};

struct MobileRow {
  const char* name;
  std::span<const MobileBlock> blocks;
  std::int64_t features;  // that the head sees
};
constexpr std::array<MobileRow, 2> kMobileNets = {
    {{"mobilenet_v3_small", kSmallBlocks, 1024}, {"mobilenet_v3_large", kLargeBlocks, 1280}}};

BuiltGraph build_mobilenet_v3(const std::string& member, const ModelInput& input,
                              double /*drop_path*/) {
  const MobileRow& row = row_of(kMobileNets, member);
  GraphBuilder b;
  GraphReference x = plain_layer(b, b.images(),
                                 {.name = "features.0",
                                  .convolution = "conv_stem",
                                  .norm = "bn1",
                                  .inputs = input.image.channels,
                                  .outputs = kMobileFirst,
                                  .side = 3,
                                  .stride = 2,
                                  .activation = "aten::hardswish_",
                                  .batch_norm = kMobileNorm});
  std::int64_t inputs = kMobileFirst;
  int stage = -1, in_stage = 0;  // timm's: one for each number of channels
  for (std::size_t i = 0; i < row.blocks.size(); ++i) {
    const MobileBlock& block = row.blocks[i];
    const bool begins = i == 0 || block.outputs != inputs;
    if (begins) ++stage;
    in_stage = begins ? 0 : in_stage + 1;
    const std::int64_t quarter = block.wide / 4;
    const std::int64_t squeezed = round_channels(static_cast<double>(quarter));
    x = inverted_residual(b, x,
                          {.name = fmt::format("features.{}", i + 1),
                           .other = fmt::format("blocks.{}.{}", stage, in_stage),
                           .inputs = inputs,
                           .wide = block.wide,
                           .outputs = block.outputs,
                           .side = block.side,
                           .stride = block.stride,
                           .squeezed = block.excites ? squeezed : 0,
                           .activation = block.swishes ? "aten::hardswish_" : "aten::relu_",
                           .squeeze_activation = "aten::relu",
                           .gate = "aten::hardsigmoid",
                           .batch_norm = kMobileNorm});
    inputs = block.outputs;
  }
  const std::int64_t wide = 6 * inputs;
  const std::string last = fmt::format("blocks.{}.0", stage + 1);
  x = plain_layer(b, x,
                  {.name = fmt::format("features.{}", row.blocks.size() + 1),
                   .convolution = last + ".conv",
                   .norm = last + ".bn1",
                   .inputs = inputs,
                   .outputs = wide,
                   .activation = "aten::hardswish_",
                   .batch_norm = kMobileNorm});
  x = b.linear(b.named("classifier.0", "conv_head"), b.flatten(b.average_pool(x, 1, 1), 1), wide,
               row.features, normal_start(kMobileDeviation));
  x = b.dropout(b.activation("aten::hardswish_", x), kMobileDropout);
  return b.finish(b.linear(b.named("classifier.3", "classifier"), x, row.features, input.classes,
                           normal_start(kMobileDeviation)));
}

}  // namespace

BuiltFamily mobilenet_v3_family() {
  return {.family = {.name = "mobilenet_v3",
                     .usage = "mobilenet_v3_small|large",
                     .summary = "torchvision's, 2.5 and 5.5 million parameters",
                     .members = names_in(kMobileNets)},
          .build = build_mobilenet_v3};
}

}  // namespace stoker

// EfficientNet (Tan and Le, 2019) B0 to B4, and EfficientNetV2-S (2021). torchvision's networks and
// tensor names. Padding is symmetric, as PyTorch's.
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "stoker/nn/families/built_families.h"
#include "stoker/nn/families/inverted_residual.h"

namespace stoker {
namespace {

// Blocks in a row; the first may halve the image.
struct EfficientNetStage {
  std::int64_t expansion, side, stride, channels;
  int blocks;
  bool fused = false;
};
// Table 1 of the paper.
constexpr std::array<EfficientNetStage, 7> kFirstVersion = {{{1, 3, 1, 16, 1},
                                                             {6, 3, 2, 24, 2},
                                                             {6, 5, 2, 40, 2},
                                                             {6, 3, 2, 80, 3},
                                                             {6, 5, 1, 112, 3},
                                                             {6, 5, 2, 192, 4},
                                                             {6, 3, 1, 320, 1}}};
// Table 4 of the second paper, with torchvision's widths.
constexpr std::array<EfficientNetStage, 6> kSecondVersion = {{{1, 3, 1, 24, 2, true},
                                                              {4, 3, 2, 48, 4, true},
                                                              {4, 3, 2, 64, 4, true},
                                                              {4, 3, 2, 128, 6},
                                                              {6, 3, 1, 160, 9},
                                                              {6, 3, 2, 256, 15}}};

struct EfficientNetRow {
  const char* name;
  double wider, deeper;  // than the table
  double dropout;
  std::span<const EfficientNetStage> stages = kFirstVersion;
  std::int64_t first = 32;
  std::int64_t last = 0;  // 0: four times what the last stage has
  double epsilon = 1e-5;
};
constexpr std::array<EfficientNetRow, 6> kEfficientNets = {
    {{"efficientnet_b0", 1, 1, 0.2},
     {"efficientnet_b1", 1, 1.1, 0.2},
     {"efficientnet_b2", 1.1, 1.2, 0.3},
     {"efficientnet_b3", 1.2, 1.4, 0.3},
     {"efficientnet_b4", 1.4, 1.8, 0.4},
     {"efficientnet_v2_s", 1, 1, 0.2, kSecondVersion, 24, 1280, 1e-3}}};

int depth_of(const EfficientNetRow& row, const EfficientNetStage& stage) {
  return static_cast<int>(std::ceil(stage.blocks * row.deeper));
}

std::int64_t width_of(const EfficientNetRow& row, std::int64_t channels) {
  return round_channels(static_cast<double>(channels) * row.wider);
}

GraphReference add_stages(GraphBuilder& b, GraphReference x, const EfficientNetRow& row,
                          double drop_path) {
  int blocks = 0, before = 0;
  for (const EfficientNetStage& stage : row.stages) blocks += depth_of(row, stage);
  std::int64_t inputs = width_of(row, row.first);
  for (std::size_t i = 0; i < row.stages.size(); ++i) {
    const EfficientNetStage& stage = row.stages[i];
    const std::int64_t outputs = width_of(row, stage.channels);
    for (int number = 0; number < depth_of(row, stage); ++number) {
      x = inverted_residual(b, x,
                            {.name = fmt::format("features.{}.{}", i + 1, number),
                             .other = fmt::format("blocks.{}.{}", i, number),
                             .inputs = inputs,
                             .wide = round_channels(static_cast<double>(inputs * stage.expansion)),
                             .outputs = outputs,
                             .side = stage.side,
                             .stride = number == 0 ? stage.stride : 1,
                             .fused = stage.fused,
                             .squeezed = inputs / 4,
                             .activation = "aten::silu_",
                             .squeeze_activation = "aten::silu_",
                             .gate = "aten::sigmoid",
                             .batch_norm = {.epsilon = row.epsilon},
                             .drop_path = drop_path * before++ / blocks});
      inputs = outputs;
    }
  }
  return x;
}

BuiltGraph build_efficientnet(const std::string& member, const ModelInput& input,
                              double drop_path) {
  const EfficientNetRow& row = row_of(kEfficientNets, member);
  GraphBuilder b;
  GraphReference x = plain_layer(b, b.images(),
                                 {.name = "features.0",
                                  .convolution = "conv_stem",
                                  .norm = "bn1",
                                  .inputs = input.image.channels,
                                  .outputs = width_of(row, row.first),
                                  .side = 3,
                                  .stride = 2,
                                  .activation = "aten::silu_",
                                  .batch_norm = {.epsilon = row.epsilon}});
  x = add_stages(b, x, row, drop_path);
  const std::int64_t inputs = width_of(row, row.stages.back().channels);
  const std::int64_t features = row.last > 0 ? row.last : 4 * inputs;
  x = plain_layer(b, x,
                  {.name = fmt::format("features.{}", row.stages.size() + 1),
                   .convolution = "conv_head",
                   .norm = "bn2",
                   .inputs = inputs,
                   .outputs = features,
                   .activation = "aten::silu_",
                   .batch_norm = {.epsilon = row.epsilon}});
  x = b.dropout(b.flatten(b.average_pool(x, 1, 1), 1), row.dropout);
  return b.finish(b.linear(b.named("classifier.1", "classifier"), x, features, input.classes,
                           uniform_start(1 / std::sqrt(static_cast<double>(input.classes)))));
}

}  // namespace

BuiltFamily efficientnet_family() {
  return {.family = {.name = "efficientnet",
                     .usage = "efficientnet_b0|b1|b2|b3|b4|v2_s",
                     .summary = "torchvision's, 5.3 to 21.5 million parameters",
                     .members = names_in(kEfficientNets)},
          .drops_paths = true,
          .build = build_efficientnet};
}

}  // namespace stoker

// Vision transformers (Dosovitskiy et al., 2021) of patches of 16x16, with a class token. timm's
// networks and tensor names; torchvision has the base one as vit_b_16.
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "stoker/nn/families/built_families.h"
#include "stoker/nn/families/family_layers.h"

namespace stoker {
namespace {

constexpr int kPatch = 16, kVitBlocks = 12;
constexpr std::int64_t kHeadWidth = 64;
constexpr double kVitEpsilon = 1e-6, kVitDeviation = 0.02, kClassTokenDeviation = 1e-6;

struct VitRow {
  const char* name;
  std::int64_t width;
};
constexpr std::array<VitRow, 3> kVits = {
    {{"vit_tiny_patch16_224", 192}, {"vit_small_patch16_224", 384}, {"vit_base_patch16_224", 768}}};

struct VitBlock {
  std::string name, other;
  std::int64_t width = 0, tokens = 0;
  double drop_path = 0;
};

GraphReference attend(GraphBuilder& b, GraphReference x, const VitBlock& block) {
  const InitialValues initial = normal_start(kVitDeviation);
  const std::string name = block.name + ".attn", other = block.other + ".self_attention";
  const std::int64_t heads = block.width / kHeadWidth;
  b.named(name + ".qkv.weight", other + ".in_proj_weight");
  b.named(name + ".qkv.bias", other + ".in_proj_bias");
  x = b.linear(name + ".qkv", x, block.width, 3 * block.width, initial);
  x = b.reshape(x, {std::int64_t{-1}, block.tokens, std::int64_t{3}, heads, kHeadWidth});
  x = b.permute(x, {2, 0, 3, 1, 4});
  const std::vector<GraphReference> parts = b.call_list("aten::unbind.int", {{"self", x}}, 3);
  x = b.call("aten::scaled_dot_product_attention",
             {{"query", parts[0]}, {"key", parts[1]}, {"value", parts[2]}});
  x = b.call("aten::transpose.int",
             {{"self", x}, {"dim0", std::int64_t{1}}, {"dim1", std::int64_t{2}}});
  x = b.reshape(x, {std::int64_t{-1}, block.tokens, block.width});
  return b.linear(b.named(name + ".proj", other + ".out_proj"), x, block.width, block.width,
                  initial);
}

GraphReference add_vit_block(GraphBuilder& b, GraphReference x, const VitBlock& block) {
  const InitialValues initial = normal_start(kVitDeviation);
  const auto norm = [&](int number, GraphReference of) {
    return b.layer_norm(b.named(fmt::format("{}.norm{}", block.name, number),
                                fmt::format("{}.ln_{}", block.other, number)),
                        of, block.width, kVitEpsilon);
  };
  x = b.add(x, b.drop_path(attend(b, norm(1, x), block), block.drop_path, 3));
  GraphReference y = b.linear(b.named(block.name + ".mlp.fc1", block.other + ".mlp.0"), norm(2, x),
                              block.width, 4 * block.width, initial);
  y = b.linear(b.named(block.name + ".mlp.fc2", block.other + ".mlp.3"),
               b.activation("aten::gelu", y), 4 * block.width, block.width, initial);
  return b.add(x, b.drop_path(y, block.drop_path, 3));
}

// The class token and one for each patch, with their positions.
GraphReference embed(GraphBuilder& b, std::int64_t channels, std::int64_t width,
                     std::int64_t tokens) {
  const InitialValues initial =
      uniform_start(1 / std::sqrt(static_cast<double>(channels * kPatch * kPatch)));
  GraphReference x = b.convolution(b.named("patch_embed.proj", "conv_proj"), b.images(),
                                   {.inputs = channels,
                                    .outputs = width,
                                    .side = kPatch,
                                    .stride = kPatch,
                                    .padding = 0,
                                    .bias = true,
                                    .initial = initial,
                                    .bias_initial = initial});
  x = b.call("aten::transpose.int",
             {{"self", b.flatten(x, 2)}, {"dim0", std::int64_t{1}}, {"dim1", std::int64_t{2}}});
  const GraphReference token =
      b.parameter(b.named("cls_token", "class_token"),
                  {.shape = {1, 1, width}, .initial = normal_start(kClassTokenDeviation)});
  const GraphReference positions =
      b.parameter(b.named("pos_embed", "encoder.pos_embedding"),
                  {.shape = {1, tokens, width}, .initial = normal_start(kVitDeviation)});
  const GraphReference first = b.call(
      "aten::expand",
      {{"self", token},
       {"size", std::vector<GraphSize>{b.batch_size(), std::int64_t{-1}, std::int64_t{-1}}}});
  using Tensors = std::vector<std::optional<GraphReference>>;
  x = b.call("aten::cat", {{"tensors", Tensors{first, x}}, {"dim", std::int64_t{1}}});
  return b.add(x, positions);
}

BuiltGraph build_vit(const std::string& member, const ModelInput& input, double drop_path) {
  const std::int64_t width = row_of(kVits, member).width;
  const std::int64_t tokens =
      1 + std::int64_t{input.image.height / kPatch} * (input.image.width / kPatch);
  GraphBuilder b;
  GraphReference x = embed(b, input.image.channels, width, tokens);
  for (int number = 0; number < kVitBlocks; ++number) {
    x = add_vit_block(b, x,
                      {.name = fmt::format("blocks.{}", number),
                       .other = fmt::format("encoder.layers.encoder_layer_{}", number),
                       .width = width,
                       .tokens = tokens,
                       .drop_path = drop_path * number / (kVitBlocks - 1)});
  }
  x = b.layer_norm(b.named("norm", "encoder.ln"), x, width, kVitEpsilon);
  x = b.call("aten::select.int",
             {{"self", x}, {"dim", std::int64_t{1}}, {"index", std::int64_t{0}}});
  return b.finish(b.linear(b.named("head", "heads.head"), x, width, input.classes,
                           normal_start(kVitDeviation)));
}

}  // namespace

BuiltFamily vit_family() {
  return {.family = {.name = "vit",
                     .usage = "vit_tiny|small|base_patch16_224",
                     .summary = "timm's, 5.7 to 86.6 million parameters; takes images whose sides "
                                "are multiples of 16",
                     .members = names_in(kVits)},
          .drops_paths = true,
          .side_step = kPatch,
          .build = build_vit};
}

}  // namespace stoker

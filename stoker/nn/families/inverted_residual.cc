#include "stoker/nn/families/inverted_residual.h"

#include <fmt/format.h>

namespace stoker {
namespace {

// Numbers its layers, as torchvision does.
class BlockBuilder {
 public:
  BlockBuilder(GraphBuilder& builder, const InvertedResidual& block)
      : builder_(builder), block_(block) {}

  GraphReference convolve(GraphReference x, const char* timm, const ConvolutionShape& shape,
                          bool activated = true) {
    const std::string name = fmt::format("{}.block.{}", block_.name, layers_++);
    return normed_convolution(
        builder_, x,
        {.convolution = builder_.named(name + ".0", fmt::format("{}.{}", block_.other, timm)),
         .norm = builder_.named(name + ".1", fmt::format("{}.bn{}", block_.other, ++norms_)),
         .shape = shape,
         .batch_norm = block_.batch_norm,
         .activation = activated ? block_.activation : ""});
  }

  GraphReference squeeze(GraphReference x) {
    if (block_.squeezed == 0) return x;
    const std::string name = fmt::format("{}.block.{}", block_.name, layers_++);
    return excite(builder_, x,
                  {.narrow = builder_.named(name + ".fc1", block_.other + ".se.conv_reduce"),
                   .widen = builder_.named(name + ".fc2", block_.other + ".se.conv_expand"),
                   .channels = block_.wide,
                   .squeezed = block_.squeezed,
                   .activation = block_.squeeze_activation,
                   .gate = block_.gate});
  }

 private:
  GraphBuilder& builder_;
  const InvertedResidual& block_;
  int layers_ = 0, norms_ = 0;
};

GraphReference branch_of(GraphBuilder& b, GraphReference x, const InvertedResidual& block) {
  BlockBuilder layers(b, block);
  const bool widens = block.wide != block.inputs;
  const ConvolutionShape narrow{.inputs = block.wide, .outputs = block.outputs};
  if (block.fused) {
    const ConvolutionShape whole{
        .inputs = block.inputs, .outputs = block.wide, .side = block.side, .stride = block.stride};
    if (!widens) return layers.convolve(x, "conv", whole);
    return layers.convolve(layers.convolve(x, "conv_exp", whole), "conv_pwl", narrow, false);
  }
  if (widens) {
    x = layers.convolve(x, "conv_pw", {.inputs = block.inputs, .outputs = block.wide});
  }
  x = layers.convolve(x, "conv_dw",
                      {.inputs = block.wide,
                       .outputs = block.wide,
                       .side = block.side,
                       .stride = block.stride,
                       .groups = block.wide});
  return layers.convolve(layers.squeeze(x), widens ? "conv_pwl" : "conv_pw", narrow, false);
}

}  // namespace

GraphReference inverted_residual(GraphBuilder& b, GraphReference x, const InvertedResidual& block) {
  const GraphReference branch = branch_of(b, x, block);
  if (block.stride != 1 || block.inputs != block.outputs) return branch;
  return b.add(b.drop_path(branch, block.drop_path, 4), x);
}

GraphReference plain_layer(GraphBuilder& b, GraphReference x, const PlainLayer& layer) {
  return normed_convolution(b, x,
                            {.convolution = b.named(layer.name + ".0", layer.convolution),
                             .norm = b.named(layer.name + ".1", layer.norm),
                             .shape = {.inputs = layer.inputs,
                                       .outputs = layer.outputs,
                                       .side = layer.side,
                                       .stride = layer.stride},
                             .batch_norm = layer.batch_norm,
                             .activation = layer.activation});
}

}  // namespace stoker

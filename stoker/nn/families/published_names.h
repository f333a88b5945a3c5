// Which of a built-in network's tensors those of a published file are: torchvision and timm call
// the same tensors differently. Without LibTorch's headers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "stoker/io/safetensors.h"
#include "stoker/nn/graph/graph_builder.h"

namespace stoker {

using TensorShape = std::vector<std::int64_t>;
using TensorShapes = std::map<std::string, TensorShape>;

// The tensor with positions of tokens, whose number follows the size of the image.
inline constexpr const char* kPositions = "pos_embed";

[[nodiscard]] TensorShapes shapes_of(const BuiltGraph& built);
// Names of the weights of convolutions of images.
[[nodiscard]] std::set<std::string> first_weights(const BuiltGraph& built);
// The file's names as ours, by the library whose names more of them have.
[[nodiscard]] std::vector<std::string> our_names(std::span<const TensorView> found,
                                                 const BuiltGraph& built,
                                                 const TensorShapes& wanted);
// Whether they are of convolutions of other numbers of channels, and else the same.
[[nodiscard]] bool differ_in_channels(const TensorShape& a, const TensorShape& b);
// A dense layer's is that of a convolution of 1x1.
[[nodiscard]] TensorShape without_ones(TensorShape shape);

// The built-in graph whose tensors these are, by names and shapes of all but the head; nullopt
// where there is none.
[[nodiscard]] std::optional<std::string> built_network_of(std::span<const TensorView> found);

// How many classes the head in such a file has; nullopt where there is no head.
[[nodiscard]] std::optional<std::int64_t> published_classes(std::span<const TensorView> found,
                                                            const std::string& architecture);

}  // namespace stoker

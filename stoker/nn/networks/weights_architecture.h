// Which network a file of weights is of.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "stoker/io/weights_file.h"

namespace stoker {

// Nothing where neither the metadata nor the names of the tensors tell.
[[nodiscard]] std::optional<std::string> known_architecture(const WeightsFile& file);

// As a model file of ours or timm's config.json says it, or as its tensors tell: torchvision's
// resnet18 to resnet101 and mobilenet_v2; for the networks of nn/families, torchvision's or timm's
// names and shapes. Throws Error where neither does.
[[nodiscard]] std::string architecture_of_weights(const std::filesystem::path& path);

}  // namespace stoker

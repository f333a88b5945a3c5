// Which network a file of weights is of.
#pragma once

#include <filesystem>
#include <string>

namespace stoker {

// As a model file of ours says it, or as the names of its tensors tell: torchvision's resnet18 to
// resnet101 and mobilenet_v2; for the networks of nn/families, torchvision's or timm's names and
// shapes. Throws Error where neither does.
[[nodiscard]] std::string architecture_of_weights(const std::filesystem::path& path);

}  // namespace stoker

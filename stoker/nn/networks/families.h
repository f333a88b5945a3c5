// The built-in kinds of models, for help texts; without LibTorch's headers.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace stoker {

struct ModelFamily {
  std::string name;     // "mlp"
  std::string usage;    // "mlp:SIZE,…,SIZE[:relu]"
  std::string summary;  // one line, with the input it takes
  // Whole names of its networks, "convnext_tiny", where these are what make_model() takes.
  std::vector<std::string> members = {};
};
[[nodiscard]] std::span<const ModelFamily> model_families();

}  // namespace stoker

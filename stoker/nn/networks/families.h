// The built-in kinds of models, for help texts; without LibTorch's headers.
#pragma once

#include <span>
#include <string>

namespace stoker {

struct ModelFamily {
  std::string name;     // "mlp"
  std::string usage;    // "mlp:SIZE,…,SIZE[:relu]"
  std::string summary;  // one line, with the input it takes
};
[[nodiscard]] std::span<const ModelFamily> model_families();

}  // namespace stoker

// Models by name: "FAMILY:DETAILS", e.g. "mlp:784,128,10", "mlp:784,256,10:relu", "cnn:small".
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "stoker/nn/model.h"

namespace stoker {

struct ModelFamily {
  std::string name;     // "mlp"
  std::string usage;    // "mlp:SIZE,…,SIZE[:relu]"
  std::string summary;  // one line, with the input it takes
};
[[nodiscard]] std::span<const ModelFamily> model_families();

// Throws Error where the name is unknown or the network does not fit the input.
[[nodiscard]] std::unique_ptr<Model> make_model(const std::string& architecture,
                                                const ModelInput& input, std::uint64_t seed);

}  // namespace stoker

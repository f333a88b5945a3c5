// Models by name: "FAMILY:DETAILS", e.g. "mlp:784,128,10", "mlp:784,256,10:relu", "cnn:small", or
// "FAMILY" alone, e.g. "resnet18". Built-in families are in one explicit list; a program adds its
// own by register_network() (stoker/network.h). Any thread may call any function.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "stoker/nn/model.h"
#include "stoker/nn/networks/families.h"

namespace stoker {

// Throws Error where the name is unknown or the network does not fit the input.
[[nodiscard]] std::unique_ptr<Model> make_model(const std::string& architecture,
                                                const ModelInput& input, std::uint64_t seed);

}  // namespace stoker

// Models by name: "FAMILY:DETAILS", e.g. "mlp:784,128,10", "mlp:784,256,10:relu", "cnn:small", or
// "FAMILY" alone, e.g. "resnet18". Built-in families are in one explicit list; a program adds its
// own by register_network() (stoker/network.h). Any thread may call any function.
//
// No header of LibTorch's modules here: with them registry.cc takes 14 s to compile instead of 8 s.
// torch_network.cc has them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "stoker/nn/model.h"
#include "stoker/nn/networks/families.h"

namespace stoker {

// What else may be said of a network.
struct NetworkOptions {
  std::string head = {};  // of a .pt2 file: the name of its linear layer; empty: the last one
  // Stochastic depth: with this probability the last block is dropped in training; blocks before
  // it less, in equal steps.
  double drop_path = 0;
};

// What makes a model of the family from the whole name and the details in it.
using MakeModel = std::function<std::unique_ptr<Model>(
    const std::string& architecture, const std::string& details, const ModelInput& input,
    std::uint64_t seed)>;

// Adds a family, for the whole process and for good. Throws Error where its name is taken or has
// other characters than a-z, 0-9, "_" and "-".
void register_family(ModelFamily family, MakeModel make);

// Throws Error where the name is unknown or the network does not fit the input.
// `FILE.pt2` is a network that Python exported (nn/graph/exported_network.h).
[[nodiscard]] std::unique_ptr<Model> make_model(const std::string& architecture,
                                                const ModelInput& input, std::uint64_t seed,
                                                const NetworkOptions& options = {});

}  // namespace stoker

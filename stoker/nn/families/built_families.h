// Built-in networks that are described as graphs (nn/graph/graph_builder.h): a table of settings
// for each family, and a function that builds a graph of them.
#pragma once

#include <span>
#include <string>

#include "stoker/nn/graph/graph_builder.h"
#include "stoker/nn/model_input.h"
#include "stoker/nn/networks/families.h"

namespace stoker {

struct BuiltFamily {
  ModelFamily family;
  bool drops_paths = false;  // has stochastic depth
  // Sides of images are multiples of this, and at least 32.
  int side_step = 1;
  // `member` is one of the family's; the input fits.
  BuiltGraph (*build)(const std::string& member, const ModelInput& input, double drop_path);
};

// All of them.
[[nodiscard]] std::span<const BuiltFamily> built_families();
// That with a network of this name; nullptr where none has it.
[[nodiscard]] const BuiltFamily* find_built_family(const std::string& architecture);

// The graph of a network. Throws Error where the input does not fit it, and OptionError where it
// has no stochastic depth and `drop_path` is not 0.
[[nodiscard]] BuiltGraph build_network(const BuiltFamily& family, const std::string& architecture,
                                       const ModelInput& input, double drop_path);

// The families, one file each.
[[nodiscard]] BuiltFamily convnext_family();
[[nodiscard]] BuiltFamily vit_family();
[[nodiscard]] BuiltFamily efficientnet_family();
[[nodiscard]] BuiltFamily mobilenet_v3_family();
[[nodiscard]] BuiltFamily regnet_family();

}  // namespace stoker

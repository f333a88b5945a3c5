// Named settings for training. A recipe gives the flags that were not given.
#pragma once

#include <string>
#include <vector>

#include "stoker/cli/command.h"

namespace stoker {

struct Recipe {
  std::string name;
  std::string summary;
  std::string flags;  // YAML: a line for each flag
};
[[nodiscard]] const std::vector<Recipe>& recipes();

// Throws Error with all names where there is no such recipe.
void apply_recipe(const Command& command, const std::string& name);

}  // namespace stoker

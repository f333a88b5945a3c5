// Named settings for training. A recipe sets what was not given.
#pragma once

#include <string>
#include <vector>

#include "stoker/run/settings_file.h"

namespace stoker {

struct Recipe {
  std::string name;
  std::string summary;
  std::string settings;  // YAML: a line for each
};
[[nodiscard]] const std::vector<Recipe>& recipes();

// Both throw Error with all names where the recipe does not exist.
[[nodiscard]] const std::string& recipe_summary(const std::string& name);
// What it sets this setting to, as its text has it; empty: nothing.
[[nodiscard]] std::string recipe_setting(const std::string& name, const std::string& setting);
void apply_recipe(std::span<const Setting> settings, GivenSettings& given, const std::string& name);

}  // namespace stoker

/// \file
/// Settings as YAML: a line "name: value" for each, lists where there are several values. Read from
/// a user's file, a recipe or a run's args.yaml; written with the values that a run used.
#pragma once

#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stoker/core/setting.h"

namespace stoker {

/// Names of settings that have a value already. What stands nearer to the user comes first, so the
/// functions below pass over these, and add the names that they set.
using GivenSettings = std::set<std::string>;

/// Throws Error with the line where a name is unknown or a value does not fit. A setting that
/// excludes one that was given before the file is passed over.
void apply_settings_file(std::span<const Setting> settings, GivenSettings& given,
                         const std::filesystem::path& path);
/// The same for a text of our own; `name` is for messages.
void apply_settings_text(std::span<const Setting> settings, GivenSettings& given,
                         const std::string& text, const std::string& name);
/// The settings of a run that is resumed: none is passed over for what it excludes.
void apply_run_settings(std::span<const Setting> settings, GivenSettings& given,
                        const std::string& text, const std::string& name);

/// Names and values of a file that to_yaml() wrote, lists joined by commas. Throws Error where it
/// is not a list of names and values.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> read_yaml_pairs(
    const std::filesystem::path& path);

/// Text that the functions above read back, a line for each.
[[nodiscard]] std::string to_yaml(const SettingValues& values);

}  // namespace stoker

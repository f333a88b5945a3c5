// A command's flags as a YAML file: "name: value" for each, lists for flags with several values.
// Read as if the flags stood on the command line, where what really stands there wins; written with
// the values that a run really used.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stoker/cli/command.h"

namespace stoker {

// Gives every flag of `command` that is in the file and not on the command line its value from the
// file. Throws Error with the line where a name is unknown or a value does not fit.
// A flag that excludes one that is given already is passed over: what stands nearer to the user
// wins.
void apply_yaml(const Command& command, const std::filesystem::path& path);
// The same for a text; `name` is for messages.
void apply_yaml_text(const Command& command, const std::string& text, const std::string& name);
// The settings of a run that is resumed: no flag is passed over.
void apply_run_yaml(const Command& command, const std::string& text, const std::string& name);

// Names without dashes and values, in the order of the help text.
using FlagValues = std::vector<std::pair<std::string, std::vector<std::string>>>;

// What every flag of the command stands at, except `left_out`.
[[nodiscard]] FlagValues flag_values(const Command& command, const std::set<std::string>& left_out);
// Those that were given, on the command line or by a file.
[[nodiscard]] FlagValues given_values(const Command& command,
                                      const std::set<std::string>& left_out);
// What they stand at where nothing is given.
[[nodiscard]] FlagValues default_values(const Command& command);
// Replaces the value of a flag that is there.
void set_flag_value(FlagValues& values, const std::string& name, const std::string& value);
void set_flag_values(FlagValues& values, const std::string& name,
                     const std::vector<double>& numbers);

// Names and values of a file that to_yaml() wrote, lists joined by commas; of no command. Throws
// Error where it is not a list of names and values.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> read_yaml_pairs(
    const std::filesystem::path& path);

// Text that apply_yaml() reads back, a line for each flag.
[[nodiscard]] std::string to_yaml(const FlagValues& values);

}  // namespace stoker

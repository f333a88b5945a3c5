// Completion of the program's commands, flags and fixed values for shells, and its manual page; all
// from the same definitions as --help. Functions without state.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "stoker/cli/command_tree.h"

namespace stoker {

// Values to offer for flags that also take others: "--recipe" and the names of recipes.
using OfferedValues = std::map<std::string, std::vector<std::string>>;
// The commands, with these values as the choices of flags that have none.
[[nodiscard]] CommandInfo with_offered_values(CommandInfo program, const OfferedValues& values);

[[nodiscard]] std::string bash_completion(const CommandInfo& program);
[[nodiscard]] std::string zsh_completion(const CommandInfo& program);
[[nodiscard]] std::string fish_completion(const CommandInfo& program);

// In roff, for `man`.
[[nodiscard]] std::string manual_page(const CommandInfo& program, const std::string& version);

}  // namespace stoker

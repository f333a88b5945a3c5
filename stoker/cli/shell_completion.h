// Completion of the program's commands, flags and fixed values for shells, and its manual page; all
// from the same definitions as --help. Functions without state.
#pragma once

#include <string>

#include "stoker/cli/command_tree.h"

namespace stoker {

[[nodiscard]] std::string bash_completion(const CommandInfo& program);
[[nodiscard]] std::string zsh_completion(const CommandInfo& program);
[[nodiscard]] std::string fish_completion(const CommandInfo& program);

// In roff, for `man`.
[[nodiscard]] std::string manual_page(const CommandInfo& program, const std::string& version);

}  // namespace stoker

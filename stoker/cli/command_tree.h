// The program's commands and flags as plain values, taken from the definitions that also parse them
// and print --help: what completion scripts and the manual page are made of.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "stoker/cli/command.h"

namespace stoker {

struct FlagInfo {
  std::vector<std::string> names;  // with dashes, the long one last; one without: a positional
  std::string description;
  std::string value = {};      // what stands for its value in a text, e.g. "TEXT"; none: empty
  std::string otherwise = {};  // its default, where it has one
  std::vector<std::string> choices = {};  // where it has only these
  std::string group = {};                 // heading in help
};

struct CommandInfo {
  std::string name;
  std::string description, footer;
  std::vector<FlagInfo> flags, positionals;
  std::vector<CommandInfo> commands;
};

[[nodiscard]] CommandInfo command_tree(const Command& command);
[[nodiscard]] CommandInfo command_tree(const CLI::App& app);

// Long names, without dashes, of all flags of the command and of those below it.
[[nodiscard]] std::set<std::string> flag_names(const Command& command);

}  // namespace stoker

// What --help prints, at most 100 columns wide.
#pragma once

#include <string>

#include "stoker/cli/command_tree.h"

namespace stoker {

// `path`: the words that name the command, "stoker train".
[[nodiscard]] std::string help_text(const CommandInfo& command, const std::string& path);

}  // namespace stoker

// What was probably meant by words that the program does not know.
#pragma once

#include <string>
#include <vector>

#include "stoker/cli/command_tree.h"

namespace stoker {

// For the words of a command line that did not parse: a sentence about the first command or flag
// that does not exist, with the closest one that does; empty where all of them do.
[[nodiscard]] std::string usage_hint(const CommandInfo& program,
                                     const std::vector<std::string>& words);

// CLI11's message in our words: "--epochs: expected a number, got \"many\"". As it is where it is
// none of those known here.
[[nodiscard]] std::string plain_usage_text(const std::string& message);

}  // namespace stoker

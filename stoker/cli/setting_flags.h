// Flags of a command from a list of settings (core/setting.h).
#pragma once

#include <set>
#include <span>
#include <string>

#include "stoker/cli/command.h"
#include "stoker/core/setting.h"

namespace stoker {

// The values that the settings refer to are the defaults, and must live as long as the command.
void add_settings(const Command& command, std::span<const Setting> settings);

// Names of those that stand on the command line.
[[nodiscard]] std::set<std::string> given_settings(const Command& command,
                                                   std::span<const Setting> settings);

}  // namespace stoker

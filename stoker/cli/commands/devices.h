// `stoker devices`. In a header of its own: the other commands need not be compiled anew for it.
#pragma once

#include <CLI/CLI.hpp>

namespace stoker {

void add_devices_command(CLI::App& parent);

}  // namespace stoker

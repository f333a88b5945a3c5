// The commands, one file each. Every function adds its flags to `parent` and what to do when
// chosen.
#pragma once

#include <CLI/CLI.hpp>

namespace stoker {

void add_bench_command(CLI::App& parent);
void add_ops_command(CLI::App& parent);
void add_preview_command(CLI::App& parent);

}  // namespace stoker

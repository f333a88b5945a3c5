// The program around its commands: errors become messages and exit codes. 0 success, 1 failure,
// 2 wrong usage, 3 stopped by a signal and ready to be resumed.
#pragma once

#include <functional>

#include "stoker/cli/command.h"
#include "stoker/cli/shell_completion.h"
#include "stoker/doctor/label_suspects.h"

namespace stoker {

// What only one of the two programs has, see trainer_process.h.
struct ProgramParts {
  // Adds further commands; they stand first.
  std::function<void(const Command& program)> add_commands = {};
  // Called for words that name no command of this program; returns where nobody else knows them.
  std::function<void()> pass_on = {};
  // For `stoker doctor --weights`; the other program is asked for it where this is empty.
  LabelChecker check_labels = {};
  // For shell completion.
  OfferedValues offered_values = {};
  // Runs the command, for errors that a library throws in its own words.
  std::function<void(const std::function<void()>&)> run = {};
};

// The exit code.
[[nodiscard]] int run_command_line(int argc, char** argv, const ProgramParts& parts);

}  // namespace stoker

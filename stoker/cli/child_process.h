// Another run of this program. It dies with its parent, whatever ends that one, so that nothing
// goes on writing unseen.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace stoker {

// Runs the program with these arguments and waits for its end; its output to stdout goes nowhere.
// While `stop` says a wish to stop, the child is asked once, by SIGUSR1. Returns the exit code, or
// 128 and the number of the signal that ended it. Throws Error where it cannot be started.
[[nodiscard]] int run_program(const std::vector<std::string>& arguments,
                              const std::function<bool()>& stop);

// What run_program() returned, for messages: "exit code 1", "killed by SIGKILL".
[[nodiscard]] std::string ending_text(int code);

}  // namespace stoker

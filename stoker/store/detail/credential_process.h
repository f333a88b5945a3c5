// The command of a profile's `credential_process`: split into words, run without a shell, its
// output and time bounded.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::detail {

// The words of a command, as AWS's tools split it: at spaces, but not within single or double
// quotes; a backslash takes the next character as it is, within double quotes only before a quote
// or a backslash. Nothing is expanded. Throws Error where a quote has no end or there is no word.
[[nodiscard]] std::vector<std::string> split_command(std::string_view command);

struct ProcessLimits {
  std::size_t bytes = 64 * 1024;
  std::chrono::milliseconds time{60'000};
};

// What the program prints to its standard output. It has no input; its standard error is dropped,
// because it may contain what must not be in a log. Whatever it started ends with it. Throws Error
// where it cannot be started, ends with a status other than 0, or passes a limit.
[[nodiscard]] std::string output_of(const std::vector<std::string>& words,
                                    const ProcessLimits& limits, const std::stop_token& stop);

}  // namespace stoker::detail

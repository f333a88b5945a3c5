// What a user reads when a command ends with an exception.
#pragma once

#include <exception>
#include <string>

namespace stoker {

// Errors of ours, with their causes and with options as flags (option_text.h), and errors of the
// system, in their own words; anything else is a defect of the program and says so, with the
// version and a request to report it.
[[nodiscard]] std::string error_message(const std::exception& error);

// Of a program that ends with it: 2 for an option that cannot be used, else 1.
[[nodiscard]] int exit_code_of(const std::exception& error);

}  // namespace stoker

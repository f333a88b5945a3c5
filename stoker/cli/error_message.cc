#include "stoker/cli/error_message.h"

#include <new>
#include <system_error>

#include <fmt/format.h>

#include "stoker/cli/command.h"
#include "stoker/cli/option_text.h"
#include "stoker/core/error.h"

namespace stoker {

std::string error_message(const std::exception& error) {
  if (const auto* ours = dynamic_cast<const Error*>(&error)) {
    return with_flags(full_message(ours->details()));
  }
  if (dynamic_cast<const InvariantError*>(&error) != nullptr) return error.what();
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "out of memory";
  if (dynamic_cast<const std::system_error*>(&error) != nullptr) {
    return fmt::format("the system refused: {}", error.what());
  }
  return fmt::format(
      "internal error: {}\nThis is a defect of stoker {}. Please report it, with the command that "
      "you ran and this message.",
      error.what(), STOKER_VERSION);
}

int exit_code_of(const std::exception& error) {
  return dynamic_cast<const OptionError*>(&error) != nullptr ? kUsageExitCode : 1;
}

}  // namespace stoker

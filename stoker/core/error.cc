#include "stoker/core/error.h"

#include <utility>

#include <fmt/format.h>

#include "stoker/core/invariant.h"

namespace stoker {

std::string to_string(const ErrorDetails& details) {
  std::string text = details.what;
  if (!details.path.empty()) text += fmt::format(": {}", details.path);
  if (details.offset) text += fmt::format(", byte {}", *details.offset);
  if (!details.expected.empty()) text += fmt::format(": expected {}", details.expected);
  if (!details.found.empty()) {
    text += fmt::format("{} found {}", details.expected.empty() ? ":" : ",", details.found);
  }
  if (!details.hint.empty()) text += fmt::format(". {}", details.hint);
  return text;
}

Error::Error(ErrorDetails details)
    : std::runtime_error(to_string(details)), details_(std::move(details)) {}

namespace detail {

void fail_invariant(const char* condition, const char* file, int line, const std::string& values) {
  throw InvariantError(
      fmt::format("{}:{}: broken invariant `{}` ({}). This is a bug in Stoker: please report it.",
                  file, line, condition, values));
}

}  // namespace detail
}  // namespace stoker

#include "stoker/core/error.h"

#include <utility>

#include <fmt/format.h>

#include "stoker/core/invariant.h"
#include "stoker/core/plain_text.h"

namespace stoker {
namespace {

// A reader of the text learns nothing from the cause but how it was put.
bool is_told(const std::string& text, const ErrorDetails& cause) {
  const auto has = [&](const std::string& part) {
    return text.find(plain_lines(part)) != std::string::npos;
  };
  if (cause.path.empty() && cause.expected.empty() && cause.found.empty()) return has(cause.what);
  const bool has_offset = !cause.offset || has(fmt::format("byte {}", *cause.offset));
  return has_offset && has(cause.path) && has(cause.expected) && has(cause.found) &&
         has(cause.hint);
}

// What stands before may be a message that ends with a full stop.
void add_sentence(std::string& text, const std::string& sentence) {
  text += (text.ends_with('.') ? " " : ". ") + sentence;
}

void add_causes(std::string& text, const ErrorDetails& details, std::size_t indent) {
  for (const ErrorDetails& cause : details.causes) {
    const bool is_new = !is_told(text, cause);
    if (is_new) text += fmt::format("\n{:{}}cause: {}", "", indent, to_string(cause));
    add_causes(text, cause, is_new ? indent + 2 : indent);
  }
}

}  // namespace

std::string to_string(const ErrorDetails& details) {
  std::string text = details.what;
  // A path is one line; other parts may have several.
  if (!details.path.empty()) text += ": " + plain_text(details.path, std::string::npos);
  if (details.offset) text += fmt::format(", byte {}", *details.offset);
  if (!details.expected.empty()) add_sentence(text, "Expected " + details.expected);
  if (!details.found.empty()) {
    text += fmt::format("{} {}", details.expected.empty() ? ":" : ", got", details.found);
  }
  if (!details.hint.empty()) add_sentence(text, details.hint);
  return plain_lines(text);
}

std::string full_message(const ErrorDetails& details) {
  std::string text = to_string(details);
  add_causes(text, details, 2);
  return text;
}

ErrorDetails details_of(const std::exception& error) {
  const auto* ours = dynamic_cast<const Error*>(&error);
  return ours != nullptr ? ours->details() : ErrorDetails{.what = error.what()};
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

// Flags in texts of the modules below. There a text names an option as C++ does, in backquotes:
// "`on_error` skip". For the program's users that becomes "--on-error skip", and an option with its
// value, "`resume=runs/a`", "`--resume runs/a`". What else is in backquotes stays as it is.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace stoker {

// `flags`: those that there are, without dashes.
[[nodiscard]] std::string with_flags(std::string_view text, const std::set<std::string>& flags);

// The same with the program's own, which are set once, before a command runs.
[[nodiscard]] std::string with_flags(std::string_view text);
void set_program_flags(std::set<std::string> flags);

}  // namespace stoker

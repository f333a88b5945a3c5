// Reading the environment as values.
#pragma once

#include <optional>
#include <string>

namespace stoker {

// Nothing where the variable is not set; an empty one is "".
[[nodiscard]] std::optional<std::string> environment_variable(const char* name);

}  // namespace stoker

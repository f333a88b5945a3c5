/// \file
/// Reading the environment as values.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "stoker/export.h"

namespace stoker {

/// Nothing where the variable is not set; an empty one is "".
[[nodiscard]] STOKER_API std::optional<std::string> environment_variable(const char* name);

/// How variables are looked up. Tests give one of their own.
using Environment = std::function<std::optional<std::string>(const char*)>;

/// The user's folder for what can be made again: $XDG_CACHE_HOME, else $HOME/.cache, else empty. A
/// variable that is set to nothing counts as not set.
[[nodiscard]] STOKER_API std::filesystem::path user_cache_folder(
    const Environment& environment = environment_variable);

}  // namespace stoker

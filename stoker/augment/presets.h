/// \file
/// Policies that have a name.
#pragma once

#include <span>
#include <string>

#include "stoker/export.h"

namespace stoker {

/// A policy with a name.
struct Preset {
  std::string name;
  std::string policy;   ///< as Policy::parse reads it
  std::string summary;  ///< one line
};

/// Those that Policy::parse() knows by name.
[[nodiscard]] STOKER_API std::span<const Preset> builtin_presets();

}  // namespace stoker

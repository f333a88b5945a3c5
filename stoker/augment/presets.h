// Policies that have a name.
#pragma once

#include <span>
#include <string>

#include "stoker/export.h"

namespace stoker {

struct Preset {
  std::string name;
  std::string policy;   // as Policy::parse reads it
  std::string summary;  // one line
};

[[nodiscard]] STOKER_API std::span<const Preset> builtin_presets();

}  // namespace stoker

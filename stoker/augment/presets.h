// Policies that have a name.
#pragma once

#include <span>
#include <string>

namespace stoker {

struct Preset {
  std::string name;
  std::string policy;   // as Policy::parse reads it
  std::string summary;  // one line
};

[[nodiscard]] std::span<const Preset> builtin_presets();

}  // namespace stoker

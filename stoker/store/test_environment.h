// Variables of one test.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "stoker/core/environment.h"

namespace stoker {

inline Environment environment_of(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
}

}  // namespace stoker

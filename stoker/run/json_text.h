// JSON as commands print it: in one line, and with any text, since a path need not be UTF-8.
#pragma once

#include <cmath>
#include <string>

#include <nlohmann/json.hpp>

namespace stoker {

[[nodiscard]] inline std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// JSON has no NaN: what is not defined is null.
[[nodiscard]] inline nlohmann::ordered_json json_number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

}  // namespace stoker

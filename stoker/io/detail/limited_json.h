// JSON of files that nobody vouches for: nesting and number of values are bounded, so that memory
// and time follow the bytes and no deep nesting fills the stack.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace stoker::detail {

struct JsonLimits {
  std::size_t bytes = std::size_t{64} << 20;
  std::size_t values = std::size_t{4} << 20;
  int depth = 64;
};

// Throws Error, calling the text `what`, where it is no JSON or beyond a limit.
[[nodiscard]] nlohmann::json parse_limited_json(std::string_view text, const std::string& what,
                                                const std::string& file,
                                                const JsonLimits& limits = {});

}  // namespace stoker::detail

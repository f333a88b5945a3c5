#include "stoker/io/detail/limited_json.h"

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/io/detail/text.h"

namespace stoker::detail {
namespace {

using Json = nlohmann::json;

[[noreturn]] void fail(const std::string& what, const std::string& file, std::string expected,
                       std::string found) {
  throw Error({.what = fmt::format("cannot read {}", what),
               .path = file,
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = "The file is damaged, or made by something else than PyTorch"});
}

}  // namespace

Json parse_limited_json(std::string_view text, const std::string& what, const std::string& file,
                        const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    fail(what, file, fmt::format("at most {} bytes", limits.bytes), fmt::format("{}", text.size()));
  }
  std::size_t values = 0;
  const Json::parser_callback_t count = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > limits.depth) {
      fail(what, file, fmt::format("at most {} levels of nesting", limits.depth), "more");
    }
    if (++values > limits.values) {
      fail(what, file, fmt::format("at most {} values", limits.values), "more");
    }
    return true;
  };
  try {
    return Json::parse(text, count);
  } catch (const Json::exception& error) {
    fail(what, file, "JSON", printable(error.what()));
  }
}

}  // namespace stoker::detail

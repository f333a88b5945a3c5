// The first line in which two texts differ, for messages about settings.
#pragma once

#include <string>
#include <utility>

namespace stoker {

// Of each text; the same line twice where they are equal.
[[nodiscard]] inline std::pair<std::string, std::string> first_different_lines(
    const std::string& a, const std::string& b) {
  std::size_t at = 0;
  while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
  const auto line = [at](const std::string& text) {
    const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  return {line(a), line(b)};
}

}  // namespace stoker

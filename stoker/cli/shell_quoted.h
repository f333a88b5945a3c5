#pragma once

#include <string>

namespace stoker {

// One word of a shell, whatever is in it.
inline std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

}  // namespace stoker

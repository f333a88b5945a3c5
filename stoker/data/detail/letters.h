// ASCII letters of file names; whatever the locale says, and bytes that are not ASCII stay.
#pragma once

#include <string>
#include <string_view>

namespace stoker::detail {

[[nodiscard]] inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lower;
}

}  // namespace stoker::detail

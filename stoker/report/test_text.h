// What tests ask of written pages.
#pragma once

#include <string_view>

namespace stoker::test {

inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace stoker::test

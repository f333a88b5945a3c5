#include "stoker/io/detail/text.h"

#include <cstddef>

#include <fmt/format.h>

namespace stoker::detail {

std::string printable(std::string_view text) {
  constexpr std::size_t kMostBytes = 160;
  std::string line = "\"";
  for (const char c : text.substr(0, kMostBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F) {
      line += c;
    } else {
      line += fmt::format("\\x{:02x}", byte);
    }
  }
  return line + (text.size() > kMostBytes ? "…\"" : "\"");
}

}  // namespace stoker::detail

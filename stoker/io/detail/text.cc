#include "stoker/io/detail/text.h"

#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

namespace stoker::detail {
namespace {

// How many bytes the first one announces; 0 where none may begin with it.
std::size_t sequence_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  if (first >= 0xF0 && first < 0xF5) return 4;
  return 0;
}

// Of sequences whose bytes are right one by one: too long a form, a surrogate, beyond Unicode.
bool is_code_point(std::uint32_t value, std::size_t length) {
  if (length == 3) return value >= 0x800 && (value < 0xD800 || value > 0xDFFF);
  if (length == 4) return value >= 0x10000 && value <= 0x10FFFF;
  return true;
}

}  // namespace

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

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t length = sequence_length(first);
    if (length == 0 || length > text.size()) return false;
    std::uint32_t value = length == 1 ? first : first & (0x7FU >> length);
    for (const char c : text.substr(1, length - 1)) {
      const auto byte = static_cast<unsigned char>(c);
      if ((byte & 0xC0) != 0x80) return false;
      value = value << 6 | (byte & 0x3FU);
    }
    if (!is_code_point(value, length)) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace stoker::detail

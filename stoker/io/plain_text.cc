#include "stoker/io/plain_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "stoker/io/detail/text.h"

namespace stoker {
namespace {

// Bytes of the character at the front; 0 where it is no UTF-8.
std::size_t character_bytes(std::string_view text) {
  for (std::size_t bytes = 1; bytes <= std::min<std::size_t>(4, text.size()); ++bytes) {
    if (detail::is_utf8(text.substr(0, bytes))) return bytes;
  }
  return 0;
}

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return first < 0x20 || first == 0x7F;
  // C1: U+0080 to U+009F
  return first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
}

}  // namespace

std::string plain_text(std::string_view text, std::size_t most) {
  std::string plain;
  std::size_t at = 0;
  while (at < text.size() && at < most) {
    const std::size_t bytes = std::max<std::size_t>(1, character_bytes(text.substr(at)));
    const std::string_view character = text.substr(at, bytes);
    if (detail::is_utf8(character) && !is_control(character)) {
      plain += character;
    } else {
      for (const char c : character) {
        plain += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      }
    }
    at += bytes;
  }
  return at < text.size() ? plain + " …" : plain;
}

}  // namespace stoker

#include "stoker/core/plain_text.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace stoker {
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

// Bytes of the character at the front; 0 where it is no UTF-8.
std::size_t character_bytes(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = sequence_length(first);
  if (length == 0 || length > text.size()) return 0;
  std::uint32_t value = length == 1 ? first : first & (0x7FU >> length);
  for (const char c : text.substr(1, length - 1)) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) != 0x80) return 0;
    value = value << 6 | (byte & 0x3FU);
  }
  return is_code_point(value, length) ? length : 0;
}

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return first < 0x20 || first == 0x7F;
  // C1: U+0080 to U+009F
  return first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
}

// But for characters of `kept`.
std::string escaped(std::string_view text, std::size_t most, std::string_view kept) {
  std::string plain;
  std::size_t at = 0;
  while (at < text.size() && at < most) {
    const std::size_t bytes = character_bytes(text.substr(at));
    const std::string_view character = text.substr(at, std::max<std::size_t>(1, bytes));
    const bool is_kept = kept.find(character.front()) != std::string_view::npos;
    if (bytes > 0 && (is_kept || !is_control(character))) {
      plain += character;
    } else {
      for (const char c : character) {
        plain += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      }
    }
    at += character.size();
  }
  return at < text.size() ? plain + " …" : plain;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string plain_text(std::string_view text, std::size_t most) { return escaped(text, most, ""); }

std::string plain_lines(std::string_view text) {
  return escaped(text, std::string_view::npos, "\n\t");
}

}  // namespace stoker

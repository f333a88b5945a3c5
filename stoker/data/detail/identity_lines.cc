#include "stoker/data/detail/identity_lines.h"

#include <algorithm>

namespace stoker::detail {
namespace {

std::string_view next_field(std::string_view& line) {
  const std::size_t end = std::min(line.find('\t'), line.size());
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return field;
}

}  // namespace

std::string escape_field(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '\t':
        out += "\\t";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\\':
        out += "\\\\";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string shown_field(std::string_view field) {
  std::string out;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const bool escaped = field[i] == '\\' && i + 1 < field.size();
    const char c = escaped ? field[++i] : field[i];
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    out += control || (escaped && c != '\\') ? '?' : c;
  }
  return out;
}

ParsedIdentity parse_identity(std::string_view text) {
  ParsedIdentity parsed;
  parsed.parts.emplace_back();  // of lines before the first part
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view rest = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view kind = next_field(rest);
    if (kind == "part") {
      parsed.parts.push_back(next_field(rest));
      continue;
    }
    IdentityLine line{.part = static_cast<std::uint32_t>(parsed.parts.size() - 1), .kind = kind};
    line.name = next_field(rest);
    line.bytes = next_field(rest);
    line.number = next_field(rest);
    line.digest = next_field(rest);
    line.numbers = next_field(rest);
    parsed.lines.push_back(line);
  }
  return parsed;
}

}  // namespace stoker::detail

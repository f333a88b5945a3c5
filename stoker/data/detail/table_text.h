// Tables as text: lines of fields with tabs between them. What manifests and shard indexes are read
// with; every number is checked, nothing is guessed.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace stoker::detail {

// Takes the first line off `rest`, without its end. A last line without an end is a line too.
[[nodiscard]] inline std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

[[nodiscard]] inline std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t tab = line.find('\t');
    fields.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return fields;
    line.remove_prefix(tab + 1);
  }
}

// Nothing unless all of the text is one number of that kind. The base is that of whole numbers.
template <class Number>
[[nodiscard]] std::optional<Number> number_in(std::string_view text, int base = 10) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto read = [&] {
    if constexpr (std::integral<Number>) {
      return std::from_chars(text.data(), end, value, base);
    } else {
      return std::from_chars(text.data(), end, value);
    }
  };
  const auto [stop, error] = read();
  if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

// A line or a field can hold it, and a terminal too.
[[nodiscard]] inline bool is_plain_text(std::string_view text) {
  for (const char letter : text) {
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F) return false;
  }
  return true;
}

// A relative name that stays where it starts: not empty, no step upwards, not from the root.
[[nodiscard]] inline bool stays_inside(std::string_view name) {
  if (name.empty() || name.front() == '/' || !is_plain_text(name)) return false;
  while (!name.empty()) {
    const std::size_t slash = name.find('/');
    if (name.substr(0, slash) == "..") return false;
    name.remove_prefix(slash == std::string_view::npos ? name.size() : slash + 1);
  }
  return true;
}

}  // namespace stoker::detail

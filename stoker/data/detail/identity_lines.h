// Lines of a DataIdentity (data_identity.h), written and read. Names are bytes of any kind: tabs,
// ends of lines and backslashes are escaped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::detail {

[[nodiscard]] std::string escape_field(std::string_view text);
// For messages: escaped fields as they were, control characters as "?".
[[nodiscard]] std::string shown_field(std::string_view field);

// One line that is no "part"; views of the text. Missing fields are empty.
struct IdentityLine {
  std::uint32_t part = 0;        // place in ParsedIdentity::parts
  std::string_view kind = {};    // "image", "class", …
  std::string_view name = {};    // of a class its number, of a field its name
  std::string_view bytes = {};   // of a class its name, of a field one of its numbers' names
  std::string_view number = {};  // label or samples
  std::string_view digest = {};
  std::string_view numbers = {};  // digest of the sample's fields
};

struct ParsedIdentity {
  std::vector<std::string_view> parts;
  std::vector<IdentityLine> lines;
};

// The text must outlive the result. Anything else than lines of an identity is kept as it is: it
// differs from those.
[[nodiscard]] ParsedIdentity parse_identity(std::string_view text);

}  // namespace stoker::detail

// Texts of files, to be shown to people.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stoker {

// The text with whatever a terminal would obey as \xNN: control characters, and bytes that are no
// UTF-8. Other letters stay. Of more than `most` bytes, the first ones and "…".
[[nodiscard]] std::string plain_text(std::string_view text, std::size_t most = 200);

}  // namespace stoker

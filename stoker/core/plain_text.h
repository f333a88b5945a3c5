// Texts of files and names of files, to be shown to people and written into logs: what a terminal
// would obey becomes \xNN. Every way to a reader passes through one of these: error.h's texts,
// RunFolder::say(), errors.csv, what `cli` prints. Any thread; the cost is a pass over the text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stoker {

// Whether it is UTF-8 as the standard has it: the shortest form, no surrogates.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

// The text with whatever a terminal would obey as \xNN: control characters, and bytes that are no
// UTF-8. Other letters stay. Of more than `most` bytes, the first ones and " …".
[[nodiscard]] std::string plain_text(std::string_view text, std::size_t most = 200);
// The same for a text of several lines: their ends stay, and so do tabs.
[[nodiscard]] std::string plain_lines(std::string_view text);

}  // namespace stoker

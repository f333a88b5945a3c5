// Pieces of an HTML page that stands alone: escaped text and inlined images.
// Functions without state, safe from any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace stoker {

// For text and for quoted attributes, whatever a file is called: markup loses its meaning, and
// control characters become the sign for what cannot be shown.
[[nodiscard]] std::string escape_html(std::string_view text);

// The same for a path, which may be broken into lines behind a slash. For text alone.
[[nodiscard]] std::string path_html(std::string_view path);

[[nodiscard]] std::string base64(std::span<const std::byte> bytes);

}  // namespace stoker

// Base64 (RFC 4648), the plain alphabet, with padding. Without state.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stoker {

// Nothing where the text is no base64.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

}  // namespace stoker

// "Did you mean …?" for names that people type.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace stoker {

// The name that was probably meant: at most two letters wrong, or its beginning, whatever the case
// and punctuation; "" where none is close.
[[nodiscard]] std::string closest_name(std::string_view typed, std::span<const std::string> names);

}  // namespace stoker

// "Did you mean …?" for names that people type.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace stoker {

// Of ASCII letters.
[[nodiscard]] bool same_ignoring_case(std::string_view a, std::string_view b);

// The name that was probably meant: one or two letters wrong, or a name that contains it, whatever
// the case and punctuation; "" where none is close.
[[nodiscard]] std::string closest_name(std::string_view typed, std::span<const std::string> names);

// "Did you mean rotate?", for the hint of an Error; "" where no name is close.
[[nodiscard]] std::string did_you_mean(std::string_view typed, std::span<const std::string> names);

// The place of a name in a list, in any case. Throws OptionError, "unknown <thing>", with all names
// and the one that was probably meant, where it is not there.
[[nodiscard]] std::size_t place_of_name(std::string_view typed, std::span<const std::string> names,
                                        std::string_view thing);

}  // namespace stoker

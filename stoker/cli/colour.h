// Colour in what a person reads: where the output is a terminal and NO_COLOR is not set, unless
// --color says otherwise.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace stoker {

enum class TextColour : std::uint8_t { kRed, kYellow, kGreen, kBlue };

// The text in this colour, or as it is.
[[nodiscard]] std::string coloured(TextColour colour, const std::string& text, std::FILE* file);

// Takes "--color auto", "--color=never" and the like out of the words, wherever they stand before
// "--", and obeys them. Throws UsageError for another value.
void take_colour_flag(std::vector<std::string>& words);

}  // namespace stoker

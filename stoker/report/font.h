// A small bitmap font for labels in images: printable ASCII and the signs that our own texts use,
// 5x7 glyphs in cells of 6x9 pixels whose last two rows hold the descenders, enlarged by whole
// numbers. Text is UTF-8; a code point without a glyph, and each byte that is not UTF-8, shows as
// one box with a question mark. That is for users' texts, such as file names: scripts/check_glyphs
// ends the build where a literal of the program has a code point without a glyph.
// Functions without state, safe from any thread; the glyphs are constant data.
#pragma once

#include <string>
#include <string_view>

#include "stoker/image/image.h"
#include "stoker/report/canvas.h"

namespace stoker {

// In pixels at scale 1. Capitals and digits fill the upper kCapHeight rows.
inline constexpr int kTextHeight = 9;
inline constexpr int kCapHeight = 7;

// Pixels from the first to the last column of the text, without the gap that follows it.
[[nodiscard]] int text_width(std::string_view text, int scale);

// Draws with the upper left corner at (x, y), one line, cut at the borders of the image. Pixels
// between the strokes keep what they had.
void draw_text(const MutableImageView& out, int x, int y, std::string_view text, Colour colour,
               int scale);

// The same, turned to read from below upwards: (x, y) is the lower left corner, so that the text
// lies above y and to the right of x.
void draw_text_upwards(const MutableImageView& out, int x, int y, std::string_view text,
                       Colour colour, int scale);

// The text itself where it is at most width_px wide, else its longest beginning followed by "..".
// Never cuts inside a code point; empty where not even the dots fit.
[[nodiscard]] std::string fit_text(std::string_view text, int width_px, int scale);

}  // namespace stoker

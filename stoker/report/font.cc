#include "stoker/report/font.h"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "stoker/core/invariant.h"

namespace stoker {
namespace {

constexpr int kGlyphWidth = 5;
constexpr int kAdvance = 6;  // one empty column between glyphs
constexpr char kFirst = ' ';
constexpr char kLast = '~';

// Rows from the top, the leftmost pixel in the highest of five bits. Omitted rows are empty.
using Glyph = std::uint8_t[kTextHeight];

// clang-format off
constexpr Glyph kGlyphs[] = {
    {0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b00000},  // ' '
    {0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00000, 0b00100},  // '!'
    {0b01010, 0b01010, 0b01010, 0b00000, 0b00000, 0b00000, 0b00000},  // '"'
    {0b01010, 0b01010, 0b11111, 0b01010, 0b11111, 0b01010, 0b01010},  // '#'
    {0b00100, 0b01111, 0b10100, 0b01110, 0b00101, 0b11110, 0b00100},  // '$'
    {0b11001, 0b11001, 0b00010, 0b00100, 0b01000, 0b10011, 0b10011},  // '%'
    {0b01100, 0b10010, 0b10010, 0b01100, 0b10011, 0b10010, 0b01101},  // '&'
    {0b00100, 0b00100, 0b00100, 0b00000, 0b00000, 0b00000, 0b00000},  // '''
    {0b00010, 0b00100, 0b01000, 0b01000, 0b01000, 0b00100, 0b00010},  // '('
    {0b01000, 0b00100, 0b00010, 0b00010, 0b00010, 0b00100, 0b01000},  // ')'
    {0b00000, 0b00100, 0b10101, 0b01110, 0b10101, 0b00100, 0b00000},  // '*'
    {0b00000, 0b00100, 0b00100, 0b11111, 0b00100, 0b00100, 0b00000},  // '+'
    {0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b01100, 0b01100, 0b00100, 0b01000},  // ','
    {0b00000, 0b00000, 0b00000, 0b01110, 0b00000, 0b00000, 0b00000},  // '-'
    {0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b01100, 0b01100},  // '.'
    {0b00001, 0b00001, 0b00010, 0b00100, 0b01000, 0b10000, 0b10000},  // '/'
    {0b01110, 0b10001, 0b10001, 0b10101, 0b10001, 0b10001, 0b01110},  // '0'
    {0b00100, 0b01100, 0b10100, 0b00100, 0b00100, 0b00100, 0b11111},  // '1'
    {0b01110, 0b10001, 0b00001, 0b00010, 0b00100, 0b01000, 0b11111},  // '2'
    {0b01110, 0b10001, 0b00001, 0b00110, 0b00001, 0b10001, 0b01110},  // '3'
    {0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010},  // '4'
    {0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110},  // '5'
    {0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110},  // '6'
    {0b11111, 0b00001, 0b00010, 0b00010, 0b00100, 0b00100, 0b00100},  // '7'
    {0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110},  // '8'
    {0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100},  // '9'
    {0b00000, 0b01100, 0b01100, 0b00000, 0b00000, 0b01100, 0b01100},  // ':'
    {0b00000, 0b01100, 0b01100, 0b00000, 0b00000, 0b01100, 0b01100, 0b00100, 0b01000},  // ';'
    {0b00000, 0b00011, 0b01100, 0b10000, 0b01100, 0b00011, 0b00000},  // '<'
    {0b00000, 0b00000, 0b11111, 0b00000, 0b11111, 0b00000, 0b00000},  // '='
    {0b00000, 0b11000, 0b00110, 0b00001, 0b00110, 0b11000, 0b00000},  // '>'
    {0b01110, 0b10001, 0b00001, 0b00010, 0b00100, 0b00000, 0b00100},  // '?'
    {0b01110, 0b10001, 0b10111, 0b10101, 0b10111, 0b10000, 0b01111},  // '@'
    {0b00100, 0b01010, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001},  // 'A'
    {0b11110, 0b10001, 0b10001, 0b11110, 0b10001, 0b10001, 0b11110},  // 'B'
    {0b01110, 0b10001, 0b10000, 0b10000, 0b10000, 0b10001, 0b01110},  // 'C'
    {0b11110, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b11110},  // 'D'
    {0b11111, 0b10000, 0b10000, 0b11110, 0b10000, 0b10000, 0b11111},  // 'E'
    {0b11111, 0b10000, 0b10000, 0b11110, 0b10000, 0b10000, 0b10000},  // 'F'
    {0b01110, 0b10001, 0b10000, 0b10111, 0b10001, 0b10001, 0b01111},  // 'G'
    {0b10001, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001, 0b10001},  // 'H'
    {0b01110, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110},  // 'I'
    {0b00111, 0b00010, 0b00010, 0b00010, 0b00010, 0b10010, 0b01100},  // 'J'
    {0b10001, 0b10010, 0b10100, 0b11000, 0b10100, 0b10010, 0b10001},  // 'K'
    {0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b11111},  // 'L'
    {0b10001, 0b11011, 0b10101, 0b10101, 0b10001, 0b10001, 0b10001},  // 'M'
    {0b10001, 0b11001, 0b11001, 0b10101, 0b10011, 0b10011, 0b10001},  // 'N'
    {0b01110, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b01110},  // 'O'
    {0b11110, 0b10001, 0b10001, 0b11110, 0b10000, 0b10000, 0b10000},  // 'P'
    {0b01110, 0b10001, 0b10001, 0b10001, 0b10101, 0b10010, 0b01101},  // 'Q'
    {0b11110, 0b10001, 0b10001, 0b11110, 0b10100, 0b10010, 0b10001},  // 'R'
    {0b01111, 0b10000, 0b10000, 0b01110, 0b00001, 0b00001, 0b11110},  // 'S'
    {0b11111, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100},  // 'T'
    {0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b01110},  // 'U'
    {0b10001, 0b10001, 0b10001, 0b10001, 0b01010, 0b01010, 0b00100},  // 'V'
    {0b10001, 0b10001, 0b10001, 0b10101, 0b10101, 0b11011, 0b10001},  // 'W'
    {0b10001, 0b10001, 0b01010, 0b00100, 0b01010, 0b10001, 0b10001},  // 'X'
    {0b10001, 0b10001, 0b01010, 0b00100, 0b00100, 0b00100, 0b00100},  // 'Y'
    {0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b10000, 0b11111},  // 'Z'
    {0b01110, 0b01000, 0b01000, 0b01000, 0b01000, 0b01000, 0b01110},  // '['
    {0b10000, 0b10000, 0b01000, 0b00100, 0b00010, 0b00001, 0b00001},  // '\'
    {0b01110, 0b00010, 0b00010, 0b00010, 0b00010, 0b00010, 0b01110},  // ']'
    {0b00100, 0b01010, 0b10001, 0b00000, 0b00000, 0b00000, 0b00000},  // '^'
    {0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b11111},  // '_'
    {0b01000, 0b00100, 0b00010, 0b00000, 0b00000, 0b00000, 0b00000},  // '`'
    {0b00000, 0b00000, 0b01110, 0b00001, 0b01111, 0b10001, 0b01111},  // 'a'
    {0b10000, 0b10000, 0b11110, 0b10001, 0b10001, 0b10001, 0b11110},  // 'b'
    {0b00000, 0b00000, 0b01111, 0b10000, 0b10000, 0b10000, 0b01111},  // 'c'
    {0b00001, 0b00001, 0b01111, 0b10001, 0b10001, 0b10001, 0b01111},  // 'd'
    {0b00000, 0b00000, 0b01110, 0b10001, 0b11111, 0b10000, 0b01111},  // 'e'
    {0b00111, 0b01000, 0b11110, 0b01000, 0b01000, 0b01000, 0b01000},  // 'f'
    {0b00000, 0b00000, 0b01111, 0b10001, 0b10001, 0b10001, 0b01111, 0b00001, 0b01110},  // 'g'
    {0b10000, 0b10000, 0b11110, 0b10001, 0b10001, 0b10001, 0b10001},  // 'h'
    {0b00100, 0b00000, 0b01100, 0b00100, 0b00100, 0b00100, 0b01110},  // 'i'
    {0b00010, 0b00000, 0b00110, 0b00010, 0b00010, 0b00010, 0b00010, 0b10010, 0b01100},  // 'j'
    {0b10000, 0b10000, 0b10010, 0b10100, 0b11000, 0b10100, 0b10010},  // 'k'
    {0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110},  // 'l'
    {0b00000, 0b00000, 0b11110, 0b10101, 0b10101, 0b10101, 0b10101},  // 'm'
    {0b00000, 0b00000, 0b11110, 0b10001, 0b10001, 0b10001, 0b10001},  // 'n'
    {0b00000, 0b00000, 0b01110, 0b10001, 0b10001, 0b10001, 0b01110},  // 'o'
    {0b00000, 0b00000, 0b11110, 0b10001, 0b10001, 0b10001, 0b11110, 0b10000, 0b10000},  // 'p'
    {0b00000, 0b00000, 0b01111, 0b10001, 0b10001, 0b10001, 0b01111, 0b00001, 0b00001},  // 'q'
    {0b00000, 0b00000, 0b10110, 0b11001, 0b10000, 0b10000, 0b10000},  // 'r'
    {0b00000, 0b00000, 0b01111, 0b10000, 0b01110, 0b00001, 0b11110},  // 's'
    {0b01000, 0b01000, 0b11110, 0b01000, 0b01000, 0b01000, 0b00111},  // 't'
    {0b00000, 0b00000, 0b10001, 0b10001, 0b10001, 0b10001, 0b01111},  // 'u'
    {0b00000, 0b00000, 0b10001, 0b10001, 0b01010, 0b01010, 0b00100},  // 'v'
    {0b00000, 0b00000, 0b10001, 0b10101, 0b10101, 0b10101, 0b01010},  // 'w'
    {0b00000, 0b00000, 0b10001, 0b01010, 0b00100, 0b01010, 0b10001},  // 'x'
    {0b00000, 0b00000, 0b10001, 0b10001, 0b10001, 0b10001, 0b01111, 0b00001, 0b01110},  // 'y'
    {0b00000, 0b00000, 0b11111, 0b00010, 0b00100, 0b01000, 0b11111},  // 'z'
    {0b00011, 0b00100, 0b00100, 0b11000, 0b00100, 0b00100, 0b00011},  // '{'
    {0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100},  // '|'
    {0b11000, 0b00100, 0b00100, 0b00011, 0b00100, 0b00100, 0b11000},  // '}'
    {0b00000, 0b00000, 0b01101, 0b10110, 0b00000, 0b00000, 0b00000},  // '~'
};

// Beyond ASCII, in the order of their numbers: what our own texts use. scripts/check_glyphs reads
// this table and ends the build where a text of the program needs more.
struct WideGlyph {
  char32_t code;
  Glyph rows;
};
constexpr WideGlyph kWideGlyphs[] = {
    {U'°', {0b01100, 0b10010, 0b10010, 0b01100, 0b00000, 0b00000, 0b00000}},
    {U'±', {0b00100, 0b00100, 0b11111, 0b00100, 0b00100, 0b00000, 0b11111}},
    {U'²', {0b01100, 0b10010, 0b00100, 0b01000, 0b11110, 0b00000, 0b00000}},
    {U'³', {0b11100, 0b00010, 0b01100, 0b00010, 0b11100, 0b00000, 0b00000}},
    {U'µ', {0b00000, 0b00000, 0b10001, 0b10001, 0b10001, 0b10011, 0b11101, 0b10000, 0b10000}},
    {U'·', {0b00000, 0b00000, 0b00000, 0b00100, 0b00000, 0b00000, 0b00000}},
    {U'×', {0b00000, 0b10001, 0b01010, 0b00100, 0b01010, 0b10001, 0b00000}},
    {U'÷', {0b00000, 0b00100, 0b00000, 0b11111, 0b00000, 0b00100, 0b00000}},
    {U'Σ', {0b11111, 0b10000, 0b01000, 0b00100, 0b01000, 0b10000, 0b11111}},
    {U'α', {0b00000, 0b00000, 0b01101, 0b10010, 0b10010, 0b10010, 0b01101}},
    {U'β', {0b01110, 0b10001, 0b11110, 0b10001, 0b10001, 0b11001, 0b10110, 0b10000, 0b10000}},
    {U'γ', {0b00000, 0b00000, 0b10001, 0b10001, 0b01010, 0b01010, 0b00100, 0b00100, 0b00100}},
    {U'ε', {0b00000, 0b00000, 0b01111, 0b10000, 0b01110, 0b10000, 0b01111}},
    {U'λ', {0b11000, 0b00100, 0b00100, 0b01010, 0b01010, 0b10001, 0b10001}},
    {U'μ', {0b00000, 0b00000, 0b10010, 0b10010, 0b10010, 0b10010, 0b11101, 0b10000, 0b10000}},
    {U'σ', {0b00000, 0b00000, 0b01111, 0b10010, 0b10001, 0b10001, 0b01110}},
    {U'ᵀ', {0b11111, 0b00100, 0b00100, 0b00100, 0b00000, 0b00000, 0b00000}},
    {U'–', {0b00000, 0b00000, 0b00000, 0b11111, 0b00000, 0b00000, 0b00000}},
    {U'—', {0b00000, 0b00000, 0b00000, 0b11111, 0b00000, 0b11111, 0b00000}},
    {U'‘', {0b00100, 0b01000, 0b01100, 0b00000, 0b00000, 0b00000, 0b00000}},
    {U'’', {0b01100, 0b00100, 0b01000, 0b00000, 0b00000, 0b00000, 0b00000}},
    {U'“', {0b01010, 0b10100, 0b11110, 0b00000, 0b00000, 0b00000, 0b00000}},
    {U'”', {0b11110, 0b01010, 0b10100, 0b00000, 0b00000, 0b00000, 0b00000}},
    {U'…', {0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b10101}},
    {U'′', {0b00010, 0b00100, 0b01000, 0b00000, 0b00000, 0b00000, 0b00000}},
    {U'←', {0b00000, 0b00100, 0b01000, 0b11111, 0b01000, 0b00100, 0b00000}},
    {U'→', {0b00000, 0b00100, 0b00010, 0b11111, 0b00010, 0b00100, 0b00000}},
    {U'−', {0b00000, 0b00000, 0b00000, 0b11110, 0b00000, 0b00000, 0b00000}},
    {U'√', {0b00111, 0b00100, 0b00100, 0b00100, 0b10100, 0b01100, 0b00100}},
    {U'∞', {0b00000, 0b00000, 0b01010, 0b10101, 0b10101, 0b01010, 0b00000}},
    {U'≈', {0b00000, 0b01101, 0b10110, 0b00000, 0b01101, 0b10110, 0b00000}},
    {U'≠', {0b00010, 0b00010, 0b11111, 0b00100, 0b11111, 0b01000, 0b01000}},
    {U'≤', {0b00011, 0b01100, 0b10000, 0b01100, 0b00011, 0b00000, 0b11111}},
    {U'≥', {0b11000, 0b00110, 0b00001, 0b00110, 0b11000, 0b00000, 0b11111}},
    {U'█', {0b11111, 0b11111, 0b11111, 0b11111, 0b11111, 0b11111, 0b11111, 0b11111, 0b11111}},
    {U'░', {0b10101, 0b01010, 0b10101, 0b01010, 0b10101, 0b01010, 0b10101, 0b01010, 0b10101}},
};

// A question mark cut out of a block.
constexpr Glyph kUnknown =
    {0b11111, 0b10001, 0b11101, 0b11011, 0b11111, 0b11011, 0b11111};
// clang-format on

static_assert(std::size(kGlyphs) == kLast - kFirst + 1);
static_assert(std::is_sorted(std::begin(kWideGlyphs), std::end(kWideGlyphs),
                             [](const WideGlyph& a, const WideGlyph& b) {
                               return a.code < b.code;
                             }));

// Bytes of the code point at the start of `text`, which is not empty. Bytes that cannot start one
// stand alone; one that breaks off early ends where it breaks off.
std::size_t code_point_bytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  std::size_t wanted = 1;
  if (lead >= 0xC2 && lead <= 0xDF) wanted = 2;
  if (lead >= 0xE0 && lead <= 0xEF) wanted = 3;
  if (lead >= 0xF0 && lead <= 0xF4) wanted = 4;
  std::size_t length = 1;
  while (length < wanted && length < text.size() &&
         (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) {
    ++length;
  }
  return length;
}

std::int64_t count_code_points(std::string_view text) {
  std::int64_t count = 0;
  for (; !text.empty(); text.remove_prefix(code_point_bytes(text))) ++count;
  return count;
}

// The upper limit keeps all sums of positions within int.
void check_scale(int scale) {
  STOKER_INVARIANT(scale >= 1 && scale <= kMaxSide, "scale={}", scale);
}

// The code point of `bytes` bytes at the start of the text; 0 where they are not UTF-8, or break
// off early.
char32_t code_point(std::string_view text, std::size_t bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (bytes == 2 && byte(0) <= 0xDF) return char32_t{byte(0) & 0x1FU} << 6 | (byte(1) & 0x3FU);
  if (bytes == 3 && byte(0) <= 0xEF) {
    return char32_t{byte(0) & 0x0FU} << 12 | char32_t{byte(1) & 0x3FU} << 6 | (byte(2) & 0x3FU);
  }
  return 0;  // nothing in the table takes four
}

const Glyph& wide_glyph(char32_t code) {
  const auto* found =
      std::lower_bound(std::begin(kWideGlyphs), std::end(kWideGlyphs), code,
                       [](const WideGlyph& glyph, char32_t wanted) { return glyph.code < wanted; });
  return found != std::end(kWideGlyphs) && found->code == code ? found->rows : kUnknown;
}

const Glyph& glyph_at(std::string_view text) {
  const char first = text[0];
  if (first >= kFirst && first <= kLast) return kGlyphs[first - kFirst];
  return wide_glyph(code_point(text, code_point_bytes(text)));
}

template <typename Function>
void for_each_dot(const Glyph& glyph, const Function& function) {
  for (int row = 0; row < kTextHeight; ++row) {
    for (int column = 0; column < kGlyphWidth; ++column) {
      if ((glyph[row] >> (kGlyphWidth - 1 - column) & 1) != 0) function(column, row);
    }
  }
}

int width_of(std::int64_t glyphs, int scale) {
  if (glyphs == 0) return 0;
  const std::int64_t width = (glyphs * kAdvance - (kAdvance - kGlyphWidth)) * scale;
  return static_cast<int>(std::min<std::int64_t>(width, INT_MAX));
}

// The first `count` code points.
std::string_view beginning(std::string_view text, std::int64_t count) {
  std::size_t end = 0;
  for (; count > 0 && end < text.size(); --count) end += code_point_bytes(text.substr(end));
  return text.substr(0, end);
}

}  // namespace

int text_width(std::string_view text, int scale) {
  check_scale(scale);
  return width_of(count_code_points(text), scale);
}

void draw_text(const MutableImageView& out, int x, int y, std::string_view text, Colour colour,
               int scale) {
  check_scale(scale);
  if (y >= out.shape.height) return;
  // x only grows, so nothing after the right border can show; this also keeps it from overflowing.
  while (!text.empty() && x < out.shape.width) {
    for_each_dot(glyph_at(text), [&](int column, int row) {
      fill_rect(out, {x + column * scale, y + row * scale, scale, scale}, colour);
    });
    x += kAdvance * scale;
    text.remove_prefix(code_point_bytes(text));
  }
}

void draw_text_upwards(const MutableImageView& out, int x, int y, std::string_view text,
                       Colour colour, int scale) {
  check_scale(scale);
  if (x >= out.shape.width) return;
  while (!text.empty() && y > 0) {
    for_each_dot(glyph_at(text), [&](int column, int row) {
      fill_rect(out, {x + row * scale, y - (column + 1) * scale, scale, scale}, colour);
    });
    y -= kAdvance * scale;
    text.remove_prefix(code_point_bytes(text));
  }
}

std::string fit_text(std::string_view text, int width_px, int scale) {
  if (text_width(text, scale) <= width_px) return std::string(text);
  constexpr std::string_view kDots = "..";
  if (width_of(2, scale) > width_px) return "";
  const std::int64_t room = (width_px / scale + (kAdvance - kGlyphWidth)) / kAdvance;
  std::string_view kept = beginning(text, room - 2);
  // "T-shirt.." rather than "T-shirt ..".
  while (!kept.empty() && kept.back() == ' ') kept.remove_suffix(1);
  return std::string(kept).append(kDots);
}

}  // namespace stoker

#include "stoker/kernels/sobel/filter_text.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/kernels/sobel/sobel.h"

namespace stoker {
namespace {

constexpr std::string_view kBlank = " \t\n";
constexpr int kNumberedFilters = 4;

[[noreturn]] void refuse(std::string expected, std::string found) {
  throw Error({.what = "cannot read the filter",
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = "Write a matrix, \"1,0,-1; 2,0,-2; 1,0,-1\", or a column and a row, "
                       "\"1,2,1 x 1,0,-1\"."});
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

// The word at the start of the text, for messages.
std::string word_at(const char* text) {
  return fmt::format("\"{}\"", std::string_view(text, std::strcspn(text, " ,\t\n")));
}

void check_side(std::string_view what, std::size_t side) {
  if (side % 2 == 0) {
    refuse(fmt::format("an odd number of {}, so that there is a centre", what),
           fmt::format("{} {}", side, what));
  }
  if (side > kMostFilterSide) {
    refuse(fmt::format("at most {} {}", kMostFilterSide, what), fmt::format("{} {}", side, what));
  }
}

std::vector<float> parse_row(std::string_view text) {
  const std::string row(text);
  std::vector<float> values;
  const char* place = row.c_str();
  for (;;) {
    place += std::strspn(place, " ,\t\n");
    if (*place == '\0') return values;
    char* end = nullptr;
    const float value = std::strtof(place, &end);
    // A number ends where the word ends: "3z" is none.
    if (end == place || std::strchr(" ,\t\n", *end) == nullptr || std::isnan(value)) {
      refuse("numbers", word_at(place));
    }
    if (std::abs(value) > kMostFilterWeight) {
      refuse(fmt::format("numbers from {0:.0f} to {1:.0f}", -kMostFilterWeight, kMostFilterWeight),
             word_at(place));
    }
    values.push_back(value);
    place = end;
  }
}

FilterText parse_matrix(std::string_view text) {
  FilterText kernel;
  std::size_t rows = 0, columns = 0;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    const std::vector<float> row = parse_row(text.substr(begin, end - begin));
    begin = end + 1;
    // A semicolon after the last row.
    if (row.empty() && begin > text.size() && rows > 0) break;
    if (rows > 0 && row.size() != columns) {
      refuse("rows of the same length", fmt::format("rows of {} and {}", columns, row.size()));
    }
    columns = row.size();
    ++rows;
    kernel.values.insert(kernel.values.end(), row.begin(), row.end());
  }
  check_side("rows", rows);
  check_side("columns", columns);
  kernel.rows = static_cast<int>(rows);
  kernel.columns = static_cast<int>(columns);
  return kernel;
}

FilterText outer_product(std::string_view column_text, std::string_view row_text) {
  if ((std::string(column_text) + std::string(row_text)).find_first_of("x;") != std::string::npos) {
    refuse("one column, one x and one row", "more of them");
  }
  const std::vector<float> column = parse_row(column_text), row = parse_row(row_text);
  check_side("numbers in the column", column.size());
  check_side("numbers in the row", row.size());
  FilterText kernel;
  kernel.rows = static_cast<int>(column.size());
  kernel.columns = static_cast<int>(row.size());
  for (const float down : column) {
    for (const float across : row) {
      if (std::abs(down * across) > kMostFilterWeight) {
        refuse(fmt::format("products up to {:.0f}", kMostFilterWeight),
               fmt::format("{} x {}", down, across));
      }
      // 0 * -1 is -0, which would be written so.
      kernel.values.push_back(down * across + 0.0F);
    }
  }
  return kernel;
}

FilterText numbered_filter(std::string_view text) {
  if (text.size() != 1 || text[0] < '1' || text[0] > '0' + kNumberedFilters) {
    refuse(fmt::format("a filter's number from 1 to {}", kNumberedFilters),
           fmt::format("\"{}\"", text));
  }
  return parse_filter(std::string("f").append(text));
}

}  // namespace

FilterText parse_kernel(std::string_view text) {
  for (const std::string_view sign : {"x", "×"}) {
    const std::size_t cross = text.find(sign);
    if (cross == std::string_view::npos) continue;
    return outer_product(text.substr(0, cross), text.substr(cross + sign.size()));
  }
  return parse_matrix(text);
}

FilterText parse_filter(std::string_view text) {
  const std::string_view words = trimmed(text);
  if (const NamedFilter* named = find_filter(words)) {
    const auto count = static_cast<std::ptrdiff_t>(named->rows) * named->columns;
    return {.name = std::string(named->name),
            .rows = named->rows,
            .columns = named->columns,
            .correlation_only = named->correlation_only,
            .values = {named->values.begin(), named->values.begin() + count}};
  }
  const bool number =
      !words.empty() && words.find_first_not_of("0123456789") == std::string_view::npos;
  if (number) return numbered_filter(words);
  // Names begin with a letter, coefficients do not.
  if (words.empty() || words.find_first_of("0123456789+-.") != 0) {
    static_cast<void>(named_filter(words));  // throws, with all names
  }
  return parse_kernel(words);
}

}  // namespace stoker

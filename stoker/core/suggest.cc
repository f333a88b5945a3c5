#include "stoker/core/suggest.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

// Lower case, letters and digits only: "Fashion_MNIST" is close to "fashion-mnist".
std::string simplified(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) != 0) result += static_cast<char>(std::tolower(letter));
  }
  return result;
}

// Insertions, deletions and replacements that turn one text into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string closest_name(std::string_view typed, std::span<const std::string> names) {
  constexpr std::size_t kTypos = 2, kShortestPrefix = 3;
  const std::string wanted = simplified(typed);
  std::string closest;
  std::size_t best = kTypos + 1;
  for (const std::string& name : names) {
    const std::string known = simplified(name);
    const bool prefix = wanted.size() >= kShortestPrefix && known.starts_with(wanted);
    const std::size_t distance = prefix ? kTypos : edit_distance(wanted, known);
    if (distance >= best) continue;
    best = distance;
    closest = name;
  }
  return closest;
}

std::string did_you_mean(std::string_view typed, std::span<const std::string> names) {
  const std::string closest = closest_name(typed, names);
  return closest.empty() ? "" : fmt::format("Did you mean {}?", closest);
}

std::size_t place_of_name(std::string_view typed, std::span<const std::string> names,
                          std::string_view thing) {
  const auto found = std::ranges::find(names, typed);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  throw Error({.what = fmt::format("there is no such {}", thing),
               .expected = fmt::format("one of {}", fmt::join(names, ", ")),
               .found = fmt::format("\"{}\"", typed),
               .hint = did_you_mean(typed, names)});
}

}  // namespace stoker

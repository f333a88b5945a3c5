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

// Insertions, deletions, replacements, and swaps of neighbours that turn one text into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({last[j] + (a[i] == b[j] ? 0 : 1), row[j] + 1, last[j + 1] + 1});
      const bool swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (swapped) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
    before = std::exchange(last, row);
  }
  return last.back();
}

}  // namespace

bool same_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string closest_name(std::string_view typed, std::span<const std::string> names) {
  constexpr std::size_t kShortestPart = 3;
  const std::string wanted = simplified(typed);
  // In a short word two typos leave nothing of it: "wd" is no misspelt "lr".
  const std::size_t typos = wanted.size() < 2 ? 0 : wanted.size() < 6 ? 1 : 2;
  std::string closest, beginning, containing;
  std::size_t best = typos + 1;
  for (const std::string& name : names) {
    const std::string known = simplified(name);
    const std::size_t place =
        wanted.size() < kShortestPart ? std::string::npos : known.find(wanted);
    if (place == 0 && beginning.empty()) beginning = name;
    if (place != std::string::npos && containing.empty()) containing = name;
    const std::size_t distance = edit_distance(wanted, known);
    if (distance >= best) continue;
    best = distance;
    closest = name;
  }
  if (!closest.empty()) return closest;
  return beginning.empty() ? containing : beginning;
}

std::string did_you_mean(std::string_view typed, std::span<const std::string> names) {
  const std::string closest = closest_name(typed, names);
  return closest.empty() ? "" : fmt::format("Did you mean {}?", closest);
}

std::size_t place_of_name(std::string_view typed, std::span<const std::string> names,
                          std::string_view thing) {
  const auto found = std::ranges::find_if(
      names, [&](const std::string& name) { return same_ignoring_case(name, typed); });
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  throw OptionError({.what = fmt::format("unknown {}", thing),
                     .expected = fmt::format("one of {}", fmt::join(names, ", ")),
                     .found = fmt::format("\"{}\"", typed),
                     .hint = did_you_mean(typed, names)});
}

}  // namespace stoker

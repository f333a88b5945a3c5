#include "stoker/data/data_expression.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

constexpr std::array<std::string_view, 3> kSplitNames = {"train", "val", "test"};

[[noreturn]] void fail_range(std::string_view text) {
  throw OptionError(
      {.what = fmt::format("cannot read the range of indices in \"{}\"", text),
       .expected = "[BEGIN:END], two whole numbers with BEGIN < END; either may be missing",
       .found = fmt::format("\"{}\"", text.substr(text.rfind('[')))});
}

// One end of the range; `missing` where nothing is written.
std::uint64_t end_of_range(std::string_view digits, std::uint64_t missing, std::string_view text) {
  if (digits.empty()) return missing;
  std::uint64_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end || number == IndexRange::kToTheEnd) {
    fail_range(text);
  }
  return number;
}

// Removes "[a:b]" at the end of `rest`, if it is there. Brackets without a colon belong to the
// path.
std::optional<IndexRange> take_range(std::string_view& rest, std::string_view text) {
  if (!rest.ends_with(']')) return std::nullopt;
  const std::size_t open = rest.rfind('[');
  if (open == std::string_view::npos) return std::nullopt;
  const std::string_view inside = rest.substr(open + 1, rest.size() - open - 2);
  const std::size_t colon = inside.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const IndexRange range{
      .begin = end_of_range(inside.substr(0, colon), 0, text),
      .end = end_of_range(inside.substr(colon + 1), IndexRange::kToTheEnd, text)};
  if (range.begin >= range.end) fail_range(text);
  rest = rest.substr(0, open);
  return range;
}

std::string take_split(std::string_view& rest) {
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) return "";
  const std::string_view name = rest.substr(colon + 1);
  if (std::ranges::find(kSplitNames, name) == kSplitNames.end()) return "";
  rest = rest.substr(0, colon);
  return std::string(name);
}

DataTerm parse_part(std::string_view text) {
  std::string_view rest = text;
  DataTerm part;
  part.range = take_range(rest, text);
  part.split = take_split(rest);
  part.data = rest;
  return part;
}

bool is_bare(const DataTerm& part) { return part.split.empty() && !part.range; }

}  // namespace

std::vector<DataTerm> parse_data_expression(std::string_view text) {
  std::vector<DataTerm> parts;
  for (std::string_view rest = text;;) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    parts.push_back(parse_part(rest.substr(0, comma)));
    if (comma == rest.size()) break;
    rest.remove_prefix(comma + 1);
  }
  if (std::ranges::all_of(parts, is_bare)) return {};
  for (const DataTerm& part : parts) {
    if (!part.data.empty() && !is_bare(part)) continue;
    throw OptionError({.what = fmt::format("cannot read the list of data \"{}\"", text),
                       .expected = "for every part a name or path with a split or a range, e.g. "
                                   "mnist:test,mnist:train[500:50000]",
                       .found = fmt::format("\"{}\"", text_of(part))});
  }
  return parts;
}

std::string text_of(const DataTerm& part) {
  std::string text = part.data;
  if (!part.split.empty()) text += ":" + part.split;
  if (!part.range) return text;
  const bool open_end = part.range->end == IndexRange::kToTheEnd;
  return text +
         fmt::format("[{}:{}]", part.range->begin, open_end ? "" : std::to_string(part.range->end));
}

}  // namespace stoker

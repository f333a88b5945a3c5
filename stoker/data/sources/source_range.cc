#include "stoker/data/sources/source_range.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/data/sources/subset.h"

namespace stoker {
namespace {

IndexRange checked(IndexRange range, std::uint64_t size, const std::string& what) {
  if (range.end == IndexRange::kToTheEnd) range.end = size;
  if (range.begin < range.end && range.end <= size) return range;
  throw OptionError({.what = fmt::format("cannot take a range of {}", what),
                     .expected = fmt::format("0 <= begin < end <= {}, its number of samples", size),
                     .found = fmt::format("[{}:{}]", range.begin, range.end)});
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (text.empty() || read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return number;
}

}  // namespace

SourceRange::SourceRange(std::shared_ptr<const Source> source, const IndexRange& range,
                         const std::string& what)
    : SourceView(std::move(source)), range_(checked(range, this->source().size(), what)) {}

std::shared_ptr<const Source> chosen_samples(std::shared_ptr<const Source> source,
                                             const std::string& choice, std::uint64_t seed) {
  constexpr std::string_view kFirst = "first:";
  const bool first = choice.starts_with(kFirst);
  const auto count = whole_number(std::string_view(choice).substr(first ? kFirst.size() : 0));
  if (!count || (first && *count == 0)) {
    throw OptionError({.what = "`train_samples` does not fit",
                       .expected =
                           "a number of samples to choose at random, first:N for the first N, or "
                           "0 for all",
                       .found = fmt::format("\"{}\"", choice)});
  }
  if (first) {
    return std::make_shared<SourceRange>(std::move(source), IndexRange{0, *count},
                                         "the training data");
  }
  if (*count == 0) return source;
  return std::make_shared<Subset>(std::move(source), *count, seed);
}

}  // namespace stoker

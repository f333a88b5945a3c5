#include "stoker/run/prediction_filter.h"

#include <charconv>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/suggest.h"

namespace stoker {
namespace {

[[noreturn]] void fail(std::string_view text) {
  throw OptionError(
      {.what = "cannot read `where`",
       .expected = "conditions such as p<0.6, p>=0.9 or class=NAME, with commas between",
       .found = fmt::format("\"{}\"", text)});
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

PredictionFilter::PredictionFilter(std::string_view text,
                                   const std::vector<std::string>& class_names) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    std::string_view part = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    Condition condition;
    if (part.starts_with("class=")) {
      condition.class_name =
          class_names[place_of_name(trimmed(part.substr(6)), class_names, "class")];
    } else {
      if (!part.starts_with('p')) fail(text);
      part = trimmed(part.substr(1));
      if (!part.starts_with('<') && !part.starts_with('>')) fail(text);
      condition.less = part.front() == '<';
      part.remove_prefix(1);
      condition.or_equal = part.starts_with('=');
      if (condition.or_equal) part.remove_prefix(1);
      part = trimmed(part);
      const auto read = std::from_chars(part.data(), part.data() + part.size(), condition.bound);
      if (read.ec != std::errc{} || read.ptr != part.data() + part.size()) fail(text);
    }
    conditions_.push_back(std::move(condition));
  }
}

bool PredictionFilter::lets_through(std::string_view chosen_class, double p) const {
  for (const Condition& condition : conditions_) {
    bool holds = chosen_class == condition.class_name;
    if (condition.class_name.empty()) {
      holds = condition.less ? p < condition.bound : p > condition.bound;
      holds = holds || (condition.or_equal && p == condition.bound);
    }
    if (!holds) return false;
  }
  return true;
}

}  // namespace stoker

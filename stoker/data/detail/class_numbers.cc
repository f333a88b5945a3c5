#include "stoker/data/detail/class_numbers.h"

#include <algorithm>
#include <utility>

namespace stoker::detail {

std::uint32_t ClassNumbers::number(std::string_view name) {
  const auto found = numbers_.find(name);
  if (found != numbers_.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(names_.size());
  names_.push_back(&numbers_.emplace(name, number).first->first);
  return number;
}

ClassNumbers::Sorted ClassNumbers::sorted(std::span<const std::string> known) const {
  Sorted result{.names = {known.begin(), known.end()},
                .place = std::vector<std::uint32_t>(names_.size())};
  std::unordered_map<std::string_view, std::uint32_t> places;
  const auto fill = [&] {
    places.clear();
    for (std::uint32_t i = 0; i < result.names.size(); ++i) places.emplace(result.names[i], i);
  };
  fill();
  const auto is_known = [&](const std::string* name) { return places.contains(*name); };
  if (!std::ranges::all_of(names_, is_known)) {
    result.names.clear();
    for (const std::string* name : names_) result.names.push_back(*name);
    std::ranges::sort(result.names);
    fill();
  }
  for (std::size_t i = 0; i < names_.size(); ++i) result.place[i] = places.at(*names_[i]);
  return result;
}

}  // namespace stoker::detail

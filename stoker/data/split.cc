#include "stoker/data/split.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <regex>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/permutation.h"
#include "stoker/data/exact_duplicates.h"

namespace stoker {
namespace {

// Groups are numbered in the order of their first pictures.
struct Groups {
  std::vector<std::size_t> of_image;
  std::vector<std::size_t> first_image;  // of each group
  std::vector<std::size_t> unit;         // of each group: groups tied by duplicates share one
  std::uint64_t ungrouped = 0;

  [[nodiscard]] std::size_t count() const { return first_image.size(); }
  [[nodiscard]] std::size_t unit_of_image(std::size_t image) const { return unit[of_image[image]]; }
};

std::regex parse_expression(const std::string& text) {
  constexpr const char* kHint =
      "Put () round the part of the path that names the group, e.g. \"patient([0-9]+)_\".";
  try {
    std::regex expression(text);
    if (expression.mark_count() > 0) return expression;
  } catch (const std::regex_error& error) {
    throw Error({.what = "cannot read the expression for groups",
                 .expected = "a regular expression (ECMAScript)",
                 .found = fmt::format("\"{}\" ({})", text, error.what()),
                 .hint = kHint});
  }
  throw Error({.what = "cannot read the expression for groups",
               .expected = "parentheses",
               .found = fmt::format("none in \"{}\"", text),
               .hint = kHint});
}

Groups each_alone(std::size_t images) {
  Groups groups;
  groups.of_image.resize(images);
  std::iota(groups.of_image.begin(), groups.of_image.end(), std::size_t{0});
  groups.first_image = groups.of_image;
  return groups;
}

Groups group_by(const ImageListing& listing, const std::string& text) {
  const std::regex expression = parse_expression(text);
  Groups groups;
  std::unordered_map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < listing.images.size(); ++i) {
    std::smatch match;
    std::size_t number = groups.count();
    if (std::regex_search(listing.images[i].path, match, expression) && match[1].matched) {
      number = numbers.emplace(match[1].str(), number).first->second;
    } else {
      ++groups.ungrouped;
    }
    if (number == groups.count()) groups.first_image.push_back(i);
    groups.of_image.push_back(number);
  }
  if (groups.ungrouped == listing.images.size()) {
    throw Error({.what = "the expression for groups matches no picture",
                 .expected = fmt::format("\"{}\" in relative paths", text),
                 .found = fmt::format("paths such as {}", listing.images.front().path),
                 .hint = "Correct the expression; it is searched for anywhere in the path."});
  }
  return groups;
}

// Ties groups that share a picture's bytes: each group's unit is the smallest number among them.
void tie_duplicates(const ImageListing& listing, Groups& groups) {
  auto& unit = groups.unit;
  unit.resize(groups.count());
  std::iota(unit.begin(), unit.end(), std::size_t{0});
  const auto find = [&](std::size_t group) {
    while (unit[group] != group) group = unit[group] = unit[unit[group]];
    return group;
  };
  for (const auto& set : find_exact_duplicates(listing)) {
    for (const std::size_t image : set) {
      const std::size_t a = find(groups.of_image[set.front()]), b = find(groups.of_image[image]);
      unit[std::max(a, b)] = std::min(a, b);
    }
  }
  for (std::size_t group = 0; group < groups.count(); ++group) unit[group] = find(group);
}

// Without classes all pictures are of one.
std::size_t class_of(const ImageListing& listing, std::size_t image) {
  return static_cast<std::size_t>(std::max(listing.images[image].label, 0));
}

std::size_t class_count(const ImageListing& listing) {
  return std::max<std::size_t>(listing.class_names.size(), 1);
}

// Whether each group would go to validation if there were no duplicates.
std::vector<bool> choose_every(const ImageListing& listing, const Groups& groups,
                               std::uint32_t every) {
  std::vector<std::uint64_t> seen(class_count(listing));
  std::vector<bool> chosen(groups.count());
  for (std::size_t group = 0; group < groups.count(); ++group) {
    chosen[group] = seen[class_of(listing, groups.first_image[group])]++ % every == 0;
  }
  return chosen;
}

// Takes units of `sizes` pictures in the seed's order while that brings their sum nearer to the
// share.
void choose_share(const std::vector<std::size_t>& units, const std::vector<std::int64_t>& sizes,
                  double fraction, const Permutation& order, std::vector<bool>& chosen) {
  std::int64_t all = 0, taken = 0;
  for (const std::size_t unit : units) all += sizes[unit];
  const std::int64_t wanted = std::llround(fraction * static_cast<double>(all));
  for (std::uint64_t i = 0; i < units.size(); ++i) {
    const std::size_t unit = units[order[i]];
    if (std::abs(wanted - taken - sizes[unit]) >= std::abs(wanted - taken)) continue;
    taken += sizes[unit];
    chosen[unit] = true;
  }
}

std::vector<bool> choose_fraction(const ImageListing& listing, const Groups& groups,
                                  const SplitOptions& options) {
  std::vector<std::int64_t> sizes(groups.count());
  for (const std::size_t group : groups.of_image) ++sizes[groups.unit[group]];
  std::vector<std::vector<std::size_t>> strata(options.stratified ? class_count(listing) : 1);
  for (std::size_t group = 0; group < groups.count(); ++group) {
    if (groups.unit[group] != group) continue;
    const std::size_t label = class_of(listing, groups.first_image[group]);
    strata[options.stratified ? label : 0].push_back(group);
  }
  std::vector<bool> chosen(groups.count());
  for (std::size_t i = 0; i < strata.size(); ++i) {
    if (strata[i].empty()) continue;
    const Permutation order(strata[i].size(), options.seed, static_cast<std::uint32_t>(i));
    choose_share(strata[i], sizes, *options.fraction, order, chosen);
  }
  return chosen;
}

void check_options(const SplitOptions& options) {
  if (options.fraction && !(*options.fraction > 0 && *options.fraction < 1)) {
    throw Error({.what = "cannot split",
                 .expected = "a fraction between 0 and 1, without these",
                 .found = fmt::format("{}", *options.fraction)});
  }
  if (!options.fraction && options.every < 2) {
    throw Error({.what = "cannot split",
                 .expected = "every 2nd picture or fewer",
                 .found = fmt::format("{}", options.every)});
  }
}

void check_sides(const ImageListing& listing, const SplitParts& parts) {
  if (!parts.train.images.empty() && !parts.validation.images.empty()) return;
  throw Error({.what = "a side of the split would be empty",
               .path = listing.root.string(),
               .expected = "pictures for training and for validation",
               .found = fmt::format("{} and {} of {}", parts.train.images.size(),
                                    parts.validation.images.size(), listing.images.size()),
               .hint = "Choose another share; groups and exact duplicates stay together."});
}

}  // namespace

SplitParts split_listing(const ImageListing& listing, const SplitOptions& options) {
  check_options(options);
  Groups groups =
      options.group.empty() ? each_alone(listing.images.size()) : group_by(listing, options.group);
  tie_duplicates(listing, groups);
  const std::vector<bool> chosen = options.fraction ? choose_fraction(listing, groups, options)
                                                    : choose_every(listing, groups, options.every);
  SplitParts parts;
  parts.ungrouped = groups.ungrouped;
  parts.train.root = parts.validation.root = listing.root;
  parts.train.class_names = parts.validation.class_names = listing.class_names;
  for (std::size_t i = 0; i < listing.images.size(); ++i) {
    const bool validation = chosen[groups.unit_of_image(i)];
    if (!options.fraction && validation != chosen[groups.of_image[i]]) ++parts.moved;
    (validation ? parts.validation : parts.train).images.push_back(listing.images[i]);
  }
  check_sides(listing, parts);
  return parts;
}

}  // namespace stoker

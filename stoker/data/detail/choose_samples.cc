#include "stoker/data/detail/choose_samples.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <tuple>

#include "stoker/core/permutation.h"

namespace stoker::detail {
namespace {

std::size_t class_of(const LabelledGroups& data, std::size_t group) {
  return static_cast<std::size_t>(std::max(data.labels[data.groups.first_sample[group]], 0));
}

// Samples of each unit; 0 for groups that belong to another one's unit.
std::vector<std::int64_t> sizes_of_units(const SampleGroups& groups) {
  std::vector<std::int64_t> sizes(groups.count());
  for (const std::size_t group : groups.of_sample) ++sizes[groups.unit[group]];
  return sizes;
}

// Units by class, or all of them as one.
std::vector<std::vector<std::size_t>> strata_of(const LabelledGroups& data, bool by_class) {
  std::vector<std::vector<std::size_t>> strata(by_class ? data.classes : 1);
  for (std::size_t group = 0; group < data.groups.count(); ++group) {
    if (data.groups.unit[group] != group) continue;
    strata[by_class ? class_of(data, group) : 0].push_back(group);
  }
  return strata;
}

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

}  // namespace

SampleGroups each_alone(std::size_t samples) {
  SampleGroups groups;
  groups.of_sample.resize(samples);
  std::iota(groups.of_sample.begin(), groups.of_sample.end(), std::size_t{0});
  groups.first_sample = groups.of_sample;
  return groups;
}

void tie_duplicates(std::span<const std::vector<std::size_t>> duplicates, SampleGroups& groups) {
  auto& unit = groups.unit;
  unit.resize(groups.count());
  std::iota(unit.begin(), unit.end(), std::size_t{0});
  const auto find = [&](std::size_t group) {
    while (unit[group] != group) group = unit[group] = unit[unit[group]];
    return group;
  };
  for (const auto& set : duplicates) {
    for (const std::size_t sample : set) {
      const std::size_t a = find(groups.of_sample[set.front()]), b = find(groups.of_sample[sample]);
      unit[std::max(a, b)] = std::min(a, b);
    }
  }
  for (std::size_t group = 0; group < groups.count(); ++group) unit[group] = find(group);
}

std::vector<bool> choose_every(const LabelledGroups& data, std::uint32_t every) {
  std::vector<std::uint64_t> seen(data.classes);
  std::vector<bool> chosen(data.groups.count());
  for (std::size_t group = 0; group < data.groups.count(); ++group) {
    chosen[group] = seen[class_of(data, group)]++ % every == 0;
  }
  return chosen;
}

std::vector<bool> choose_fraction(const LabelledGroups& data, const FractionChoice& choice) {
  const std::vector<std::int64_t> sizes = sizes_of_units(data.groups);
  const auto strata = strata_of(data, choice.stratified);
  std::vector<bool> chosen(data.groups.count());
  for (std::size_t i = 0; i < strata.size(); ++i) {
    if (strata[i].empty()) continue;
    const Permutation order(strata[i].size(), choice.seed, static_cast<std::uint32_t>(i));
    choose_share(strata[i], sizes, choice.fraction, order, chosen);
  }
  return chosen;
}

std::vector<std::uint32_t> deal_folds(const LabelledGroups& data, std::uint32_t folds,
                                      std::uint64_t seed) {
  const std::vector<std::int64_t> sizes = sizes_of_units(data.groups);
  const auto strata = strata_of(data, /*by_class=*/true);
  std::vector<std::uint32_t> fold(data.groups.count());
  std::vector<std::int64_t> all(folds);
  for (std::size_t i = 0; i < strata.size(); ++i) {
    if (strata[i].empty()) continue;
    const Permutation order(strata[i].size(), seed, static_cast<std::uint32_t>(i));
    std::vector<std::int64_t> of_class(folds);
    for (std::uint64_t k = 0; k < strata[i].size(); ++k) {
      const std::size_t unit = strata[i][order[k]];
      std::uint32_t least = 0;
      for (std::uint32_t f = 1; f < folds; ++f) {
        if (std::tie(of_class[f], all[f]) < std::tie(of_class[least], all[least])) least = f;
      }
      fold[unit] = least;
      of_class[least] += sizes[unit];
      all[least] += sizes[unit];
    }
  }
  return fold;
}

}  // namespace stoker::detail

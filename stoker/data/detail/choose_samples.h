// Which samples go to validation: the choice behind `stoker split`, --val-every, --val-fraction and
// --folds. Works on labels and groups alone, so that images, IDX files and lists are divided alike.
// The same input and seed give the same choice, everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stoker::detail {

// Samples that stay together. Groups are numbered in the order of their first samples.
struct SampleGroups {
  std::vector<std::size_t> of_sample;
  std::vector<std::size_t> first_sample;  // of each group
  std::vector<std::size_t> unit;          // of each group: groups tied by duplicates share one

  [[nodiscard]] std::size_t count() const { return first_sample.size(); }
  [[nodiscard]] std::size_t unit_of(std::size_t sample) const { return unit[of_sample[sample]]; }
};

// Every sample is a group of its own.
[[nodiscard]] SampleGroups each_alone(std::size_t samples);
// Ties groups that share a sample's content: each group's unit is the smallest number among them.
void tie_duplicates(std::span<const std::vector<std::size_t>> duplicates, SampleGroups& groups);

// What is divided. A label below 0 counts as class 0: without classes all samples are of one.
struct LabelledGroups {
  std::span<const std::int32_t> labels;  // of each sample
  std::size_t classes = 1;
  const SampleGroups& groups;
};

// Whether each group goes to validation: of each class the groups 0, k, 2k, …; duplicates are not
// looked at.
[[nodiscard]] std::vector<bool> choose_every(const LabelledGroups& data, std::uint32_t every);

struct FractionChoice {
  double fraction = 0;      // in (0, 1)
  bool stratified = false;  // the fraction of each class, instead of that of all
  std::uint64_t seed = 0;
};
// Whether each unit goes to validation: taken in the seed's order while that brings the number of
// samples nearer to the fraction.
[[nodiscard]] std::vector<bool> choose_fraction(const LabelledGroups& data,
                                                const FractionChoice& choice);

// The fold of each unit, in [0, folds): of each class, units in the seed's order go to the fold
// that has the fewest samples of the class, of equals to the one with the fewest in all.
[[nodiscard]] std::vector<std::uint32_t> deal_folds(const LabelledGroups& data, std::uint32_t folds,
                                                    std::uint64_t seed);

}  // namespace stoker::detail

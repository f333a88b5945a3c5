#include "stoker/report/class_scores.h"

#include <algorithm>

#include "stoker/core/invariant.h"

namespace stoker {
namespace {

double ratio(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::vector<ClassScore> class_scores(std::span<const std::int64_t> counts, std::size_t classes) {
  STOKER_INVARIANT(counts.size() == classes * classes, "{} counts of {} classes", counts.size(),
                   classes);
  std::vector<ClassScore> scores(classes);
  for (std::size_t i = 0; i < classes; ++i) {
    for (std::size_t j = 0; j < classes; ++j) {
      scores[i].support += counts[i * classes + j];
      scores[j].predicted += counts[i * classes + j];
    }
    scores[i].right = counts[i * classes + i];
  }
  for (ClassScore& score : scores) {
    score.precision = ratio(score.right, score.predicted);
    score.recall = ratio(score.right, score.support);
    score.f1 = ratio(2 * score.right, score.support + score.predicted);
  }
  return scores;
}

std::vector<ConfusedPair> confused_pairs(std::span<const std::int64_t> counts, std::size_t classes,
                                         std::size_t most) {
  std::vector<ConfusedPair> pairs;
  for (std::size_t i = 0; i < classes; ++i) {
    for (std::size_t j = 0; j < classes; ++j) {
      if (i == j || counts[i * classes + j] == 0) continue;
      pairs.push_back({.truth = i, .taken_for = j, .count = counts[i * classes + j]});
    }
  }
  std::ranges::stable_sort(pairs, [](const auto& a, const auto& b) { return a.count > b.count; });
  pairs.resize(std::min(most, pairs.size()));
  return pairs;
}

}  // namespace stoker

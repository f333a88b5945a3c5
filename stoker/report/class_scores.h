// Precision, recall and F1 of each class, and the pairs of classes that are confused most, from a
// confusion matrix. Functions without state.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stoker {

struct ClassScore {
  std::int64_t support = 0, predicted = 0, right = 0;
  double precision = 0, recall = 0, f1 = 0;  // 0 where there is nothing to divide by
};

struct ConfusedPair {
  std::size_t truth = 0, taken_for = 0;
  std::int64_t count = 0;
};

// counts[i * classes + j]: samples of class i taken for class j.
[[nodiscard]] std::vector<ClassScore> class_scores(std::span<const std::int64_t> counts,
                                                   std::size_t classes);
// The most frequent ones first, at most `most`.
[[nodiscard]] std::vector<ConfusedPair> confused_pairs(std::span<const std::int64_t> counts,
                                                       std::size_t classes, std::size_t most);

}  // namespace stoker

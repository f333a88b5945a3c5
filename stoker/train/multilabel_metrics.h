// MultilabelMetrics: how well a network says which classes an image shows, any number of them:
// average precision of each class and their mean, F1 at thresholds, exact matches; and the
// thresholds that give the best F1. Average precision needs all scores in their order, so they are
// kept: 5 bytes a sample and class, 400 MB for a million samples of 80 classes. A plain value: one
// thread at a time may add. add() costs one pass; result() and choose_thresholds() sort the scores
// of one class after the other. What they give depends on the samples and their order alone, not
// on the batches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stoker/core/metrics_result.h"

namespace stoker {

inline constexpr double kDefaultThreshold = 0.5;

class MultilabelMetrics {
 public:
  // `samples`: how many will be added, if it is known; memory is taken at once. Throws Error where
  // a number is out of range, before memory is taken.
  explicit MultilabelMetrics(std::int64_t classes, std::int64_t samples = 0);

  // probabilities[i * classes + c] is that of class c for sample i; targets, in the same order,
  // are 1 where it shows the class and 0 where not; one loss a sample. A sample with a NaN or
  // infinite probability has no prediction: it shows no class, ranks behind all others and is no
  // exact match. Throws Error where a target is neither 0 nor 1; then nothing of the batch is
  // counted.
  void add(std::span<const float> probabilities, std::span<const float> targets,
           std::span<const float> losses);

  // With one threshold for each class, from which on a class counts as shown; empty: 0.5. As
  // scikit-learn has it: average_precision_score, f1_score. A class that no sample shows has no
  // average precision; one that is neither shown nor predicted has no F1; means are over the
  // others.
  [[nodiscard]] MetricsResult result(std::span<const double> thresholds = {}) const;

  // For each class the threshold with the greatest F1 on these samples: a midpoint between
  // neighbouring scores, the lowest score's other neighbour being 0. Among equals the one nearest
  // to 0.5; 0.5 where no sample shows the class.
  [[nodiscard]] std::vector<double> choose_thresholds() const;

 private:
  struct Score;
  struct Counts {
    std::int64_t support = 0, predicted = 0, right = 0;
  };
  // Of one class, the greatest first.
  [[nodiscard]] std::vector<Score> scores_of(std::size_t which) const;
  [[nodiscard]] std::size_t samples() const noexcept { return present_.size() / classes_; }
  void check_targets(std::span<const float> targets) const;
  // Fractions that all classes have a part in.
  void add_overall(MetricsResult& result, std::span<const double> thresholds) const;

  std::size_t classes_;
  // Sample by sample; -1 for all scores of one without a prediction.
  std::vector<float> scores_;
  std::vector<std::uint8_t> present_;
  std::int64_t without_prediction_ = 0;
  double loss_ = 0;  // sum
};

}  // namespace stoker

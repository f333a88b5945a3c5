// RegressionMetrics: how far a network's numbers are from the targets: MAE, RMSE and R² of each
// target and their means, and pairs of truth and prediction for a plot. A plain value: one thread
// at a time may add. add() costs one pass; memory is O(targets) and at most kMaxPairs pairs. Sums
// are made in double, sample by sample, so they depend on the samples and their order alone, not on
// the batches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stoker/core/metrics_result.h"

namespace stoker {

// Samples with all their targets, by increasing index: truth[i * targets + t] belongs to
// samples[i].
struct TargetPairs {
  std::vector<std::uint64_t> samples = {};
  std::vector<float> truth = {}, predicted = {};
  bool operator==(const TargetPairs&) const = default;
};

class RegressionMetrics {
 public:
  static constexpr std::size_t kMaxPairs = 10'000;  // of all targets together

  // Throws Error where the number is out of range, before memory is taken.
  explicit RegressionMetrics(std::int64_t targets);

  // Samples by their indices in the source; truth[i * targets + t] in the target's own unit,
  // and so predictions; one loss a sample. A sample with a NaN or infinite prediction has none:
  // then no error is known, and all figures but the loss are NaN. Throws Error where a target is
  // not finite; then nothing of the batch is counted.
  void add(std::span<const std::uint64_t> indices, std::span<const float> predictions,
           std::span<const float> truth, std::span<const float> losses);

  // A target that is the same for all samples has no R²; means are over the targets that have one.
  // As scikit-learn's mean_absolute_error, root_mean_squared_error and r2_score.
  [[nodiscard]] MetricsResult result() const;

  // Of all samples or, if there are too many, of as many as fit, at least one: chosen by a random
  // number that belongs to the index, so the choice does not depend on the order, and the samples
  // of two epochs are the same ones. Samples without a prediction are not among them.
  [[nodiscard]] TargetPairs pairs() const;

 private:
  struct Sums {
    double absolute = 0, squared = 0;     // of the errors
    double mean = 0, squares_around = 0;  // of the truth, by Welford's formulas
  };
  struct Kept {
    std::uint64_t order, sample;
    std::vector<float> numbers;  // truth, then predictions
  };
  void keep(std::uint64_t index, std::span<const float> predictions, std::span<const float> truth);
  static void keep_first(std::vector<Kept>& kept, std::size_t most);

  std::size_t most_kept_;  // samples
  std::int64_t samples_ = 0, without_prediction_ = 0;
  double loss_ = 0;  // sum
  std::vector<Sums> targets_;
  std::vector<Kept> kept_;  // up to twice as many, so that sorting them out is rare
  std::uint64_t highest_ = ~std::uint64_t{0};  // orders above it have no place any more
};

}  // namespace stoker

// Metrics: how well a classifier does, gathered batch by batch: loss, top-1, top-k, confusion
// matrix, precision, recall and F1 of each class, expected calibration error. A plain value: one
// thread at a time may add; copies are independent. add() costs one pass over the probabilities
// and allocates nothing; memory is O(classes), and classes² up to kMaxConfusionClasses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stoker/core/metrics_result.h"

namespace stoker {

inline constexpr std::int64_t kMaxClasses = 1 << 20;
// Above this no confusion matrix is kept; it would take more than 128 MB.
inline constexpr std::int64_t kMaxConfusionClasses = 4096;

struct MetricsOptions {
  std::int64_t classes = 0;
  std::int64_t top_k = 5;  // 1 or more; may exceed the number of classes
  std::int64_t bins = 15;  // of the calibration error, equally wide, (low, high]
};

class Metrics {
 public:
  // Throws Error where an option is out of range, before memory is taken.
  explicit Metrics(const MetricsOptions& options);

  // probabilities[i * classes + c] is that of class c for sample i. Classes of equal probability
  // rank in their order, so the prediction is the first of the largest, and a network whose outputs
  // are all the same is right for the first class only. A sample with a NaN or infinite probability
  // has no prediction and counts as wrong everywhere. Throws Error where a label is not a class;
  // then nothing of the batch is counted.
  void add(std::span<const float> probabilities, std::span<const std::int64_t> labels,
           double loss_sum);
  // With the loss of each sample.
  void add(std::span<const float> probabilities, std::span<const std::int64_t> labels,
           std::span<const float> losses);

  // As if all batches of `other`, which has the same options, had been added here. Counts are
  // exact; sums of losses and confidences may differ in the last bits from those of another order.
  void merge(const Metrics& other);

  [[nodiscard]] MetricsResult result() const;

 private:
  struct Bin {
    std::int64_t samples = 0;
    std::int64_t right = 0;
    double confidence = 0;  // sum
  };

  void check_batch(std::span<const float> probabilities,
                   std::span<const std::int64_t> labels) const;
  void add_sample(std::span<const float> probabilities, std::int64_t label);
  [[nodiscard]] Bin& bin_of(float confidence);
  [[nodiscard]] double calibration_error() const;

  MetricsOptions options_;
  std::int64_t samples_ = 0;
  std::int64_t without_prediction_ = 0;
  std::int64_t right_ = 0;
  std::int64_t right_in_k_ = 0;
  double loss_ = 0;  // sum
  // One number a class.
  std::vector<std::int64_t> support_;
  std::vector<std::int64_t> predicted_;
  std::vector<std::int64_t> right_of_class_;
  std::vector<std::int64_t> confusion_;
  std::vector<Bin> bins_;
};

}  // namespace stoker

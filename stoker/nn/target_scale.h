// Regression targets in any unit, standardised for the network: its head learns (y - mean) /
// deviation, with mean and standard deviation of the training targets. So years and millimetres
// train with the same learning rates. The scale belongs to the model file (nn/model_file.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

namespace stoker {

// One number for each target. A target that is always the same has the deviation 1.
struct TargetScale {
  std::vector<double> mean, deviation;
  bool operator==(const TargetScale&) const = default;
};

// Mean and deviation in one pass, by Welford's formulas. Adding the same samples in the same order
// gives the same bits. One thread at a time.
class TargetStatistics {
 public:
  explicit TargetStatistics(std::size_t targets) : mean_(targets), squares_(targets) {}

  // The targets of one sample. Throws Error where one is NaN or infinite.
  void add(std::span<const float> targets);
  // Throws Error where there was no sample.
  [[nodiscard]] TargetScale scale() const;

 private:
  std::int64_t samples_ = 0;
  std::vector<double> mean_, squares_;  // squares of the distances from the mean, summed
};

// What the head learns, for targets as they are, and the other way; (samples, targets), float32,
// wherever they lie. Computed in double, so that a large mean costs no digits.
[[nodiscard]] at::Tensor standardised(const at::Tensor& targets, const TargetScale& scale);
[[nodiscard]] at::Tensor in_own_unit(const at::Tensor& outputs, const TargetScale& scale);

}  // namespace stoker

// An exponential moving average of a model's weights and running statistics: smoother than the
// weights themselves, and often better. Validation and saved weights are the average's.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/nn/model.h"
#include "stoker/train/options.h"

namespace stoker {

class WeightAverage {
 public:
  // Starts as a copy of what is not frozen now. Throws Error where the decay is not in (0, 1).
  WeightAverage(const Model& model, const AverageOptions& options);

  // After step number `step`, counted from 0.
  void update(std::uint64_t step);
  // For a checkpoint.
  [[nodiscard]] std::vector<NamedTensor> tensors() const;

  // While it lives, the model has the average's values; then its own again.
  class InUse {
   public:
    explicit InUse(const WeightAverage* average);  // null: nothing changes
    ~InUse();
    InUse(const InUse&) = delete;
    InUse& operator=(const InUse&) = delete;

   private:
    const WeightAverage* average_;
    std::vector<at::Tensor> own_;
  };

 private:
  AverageOptions options_;
  std::vector<NamedTensor> average_;
  std::vector<at::Tensor> model_;  // the model's own tensors, in the same order
};

}  // namespace stoker

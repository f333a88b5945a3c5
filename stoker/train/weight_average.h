// An average of a model's weights: smoother than the weights themselves, and often better.
// Validation and saved weights are the average's. There are two:
// - exponential: of weights and running statistics after every step;
// - equal: of the weights at the ends of epochs, from one epoch on (stochastic weight averaging,
//   Izmailov et al., 2018). Statistics of batch norms are computed anew for it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "stoker/nn/model.h"
#include "stoker/train/options.h"

namespace stoker {

class WeightAverage {
 public:
  // Starts as a copy of what is not frozen now. Throws Error where the decay is not in (0, 1), or
  // both averages are wanted.
  WeightAverage(const Model& model, const AverageOptions& options);

  // After step number `step`, counted from 0: the exponential one.
  void update(std::uint64_t step);
  // After the last step of epoch number `epoch`, counted from 0: the equal one.
  void end_epoch(std::uint32_t epoch);
  // Whether there is an average at the end of this epoch: the equal one begins late.
  [[nodiscard]] bool exists_after(std::uint32_t epoch) const noexcept;
  // Whether statistics have to be computed anew before it is used.
  [[nodiscard]] bool needs_statistics() const noexcept { return options_.equal_from > 0; }
  // Takes those that the model has after `compute`, which is called with the average in use.
  void renew_statistics(const std::function<void()>& compute);
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
  std::size_t weights_ = 0;        // of both; then running statistics
};

}  // namespace stoker

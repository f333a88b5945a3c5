// Batch normalisation over the batches of all ranks ("SyncBatchNorm"): mean and variance are those
// of the global batch, so the result does not depend on how it is split. Costs two small sums over
// the ranks for each layer in the forward pass, and two in the backward pass. A device that
// computes by itself is waited for in each layer: the number of values is read.
#pragma once

#include <functional>

#include <ATen/core/Tensor.h>

namespace stoker {

// While one lives, batch norms that are trained in this thread share their statistics. At most one
// a thread. It must outlive the backward pass, which may run in another thread: autograd has one
// for each device that is not a CPU.
class SharedStatistics {
 public:
  // Replaces a tensor by its sum over all ranks; called in the same order on all of them.
  using Sum = std::function<void(const at::Tensor&)>;
  explicit SharedStatistics(Sum sum);
  ~SharedStatistics();
  SharedStatistics(const SharedStatistics&) = delete;
  SharedStatistics& operator=(const SharedStatistics&) = delete;

  [[nodiscard]] static bool active() noexcept;
};

struct NormTensors {
  const at::Tensor& weight;
  const at::Tensor& bias;
  const at::Tensor& running_mean;
  const at::Tensor& running_variance;
  double running_share;   // of the newest batch
  double variance_floor;  // added to the variance
};

// As at::batch_norm() in training, but over all ranks. This rank's part may be empty.
[[nodiscard]] at::Tensor normalised_by_all_ranks(const at::Tensor& x, const NormTensors& norm);

}  // namespace stoker

// Sums of gradients over all ranks.
//
// For networks that autograd differentiates, c10d's Reducer sends gradients in buckets while the
// backward pass still computes the others. Buckets are fixed from the start, by the parameters
// alone: left to itself the Reducer deals them anew after its first step, so a resumed run would
// sum in another order. For other networks, and on request, one sum is made after the pass.
//
// Where losses have the weights n_r / N, the sum is the gradient of the mean over all N samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "stoker/distributed/group.h"
#include "stoker/nn/model.h"

namespace stoker {

enum class ReductionKind { kOverlapped, kAfterwards };

struct ReductionOptions {
  ReductionKind kind = ReductionKind::kOverlapped;
  bool bfloat16 = false;  // half the bytes; sums are rounded to 8 bits of mantissa
  std::size_t bucket_bytes = std::size_t{25} << 20;
  std::size_t first_bucket_bytes = std::size_t{1} << 20;  // small, so that sending begins early
};

// Since the object was made.
struct ReductionTimes {
  std::uint64_t bytes = 0;  // that this rank put in
  double seconds = 0;       // with at least one bucket under way
  double exposed = 0;       // of those, in which nothing else was left to do
};

// Of the step made last, in seconds since its begin().
struct BucketTimes {
  std::uint64_t bytes = 0;
  double ready = 0, summed = 0;
};

class GradientReduction {
 public:
  virtual ~GradientReduction() = default;
  // Before the first gradient of the last pass of a step. Passes before it add up locally.
  virtual void begin() = 0;
  // After that pass: every parameter's grad() is the sum over all ranks. One that has no gradient
  // on any rank keeps none, if sums are made afterwards; overlapped, an Error names it.
  virtual void finish() = 0;
  // Steady clock, seconds: when this rank had nothing left to compute in the last step.
  [[nodiscard]] virtual double computed_at() const = 0;
  [[nodiscard]] virtual ReductionTimes times() const = 0;
  // In the order in which they were sent.
  [[nodiscard]] virtual std::vector<BucketTimes> last_buckets() const = 0;
};

// The parameters are all that learn, in the model's order; the same on every rank. The group must
// outlive it.
[[nodiscard]] std::unique_ptr<GradientReduction> make_gradient_reduction(
    Group& group, const std::vector<NamedTensor>& parameters, const ReductionOptions& options);

}  // namespace stoker

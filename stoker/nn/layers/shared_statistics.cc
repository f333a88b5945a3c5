#include "stoker/nn/layers/shared_statistics.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/custom_function.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"

namespace stoker {
namespace {

// Of the thread that trains.
thread_local SharedStatistics::Sum sum_of_thread;

// y = sum of x over all ranks. Every rank's loss depends on every rank's x, so the slope is the sum
// of all ranks' slopes.
struct SumOverRanks : torch::autograd::Function<SumOverRanks> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x) {
    // The backward pass may run in another thread, which has no sum of its own.
    context->saved_data[kSum] = reinterpret_cast<std::int64_t>(&sum_of_thread);
    at::Tensor sum = x.detach().clone();
    sum_of_thread(sum);
    return sum;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list slopes) {
    at::Tensor sum = slopes[0].contiguous().clone();
    // Autograd keeps integers and tensors for the way back, not pointers of ours.
    const auto& add_up =  // NOLINTNEXTLINE(performance-no-int-to-ptr)
        *reinterpret_cast<const SharedStatistics::Sum*>(context->saved_data[kSum].toInt());
    add_up(sum);
    return {sum};
  }

 private:
  static constexpr const char* kSum = "sum";
};

at::Tensor per_channel(const at::Tensor& values) { return values.view({1, -1, 1, 1}); }

void check_count(double count) {
  if (count > 1) return;
  throw Error({.what = "batch normalisation cannot learn from this batch",
               .expected = "at least two values for each channel on all ranks together",
               .found = fmt::format("{}", count)});
}

}  // namespace

SharedStatistics::SharedStatistics(Sum sum) {
  STOKER_INVARIANT(!sum_of_thread, "statistics are shared already");
  sum_of_thread = std::move(sum);
}

SharedStatistics::~SharedStatistics() { sum_of_thread = nullptr; }

bool SharedStatistics::active() noexcept { return static_cast<bool>(sum_of_thread); }

at::Tensor normalised_by_all_ranks(const at::Tensor& x, const NormTensors& norm) {
  const at::Tensor values = x.to(at::kFloat);
  // One sum brings the number of values with those of the channels.
  const std::int64_t own = values.numel() / values.size(1);
  const at::Tensor own_count = at::full({1}, static_cast<double>(own), values.options());
  const at::Tensor first = SumOverRanks::apply(at::cat({values.sum({0, 2, 3}), own_count}));
  const std::int64_t channels = values.size(1);
  const double count = first[channels].item<double>();
  check_count(count);
  const at::Tensor mean = first.narrow(0, 0, channels) / count;
  const at::Tensor distances = values - per_channel(mean);
  const at::Tensor variance = SumOverRanks::apply(distances.square().sum({0, 2, 3})) / count;
  {
    const at::NoGradGuard no_grad;
    norm.running_mean.lerp_(mean, norm.running_share);
    norm.running_variance.lerp_(variance * (count / (count - 1)), norm.running_share);
  }
  const at::Tensor scale = (variance + norm.variance_floor).rsqrt() * norm.weight;
  return (distances * per_channel(scale) + per_channel(norm.bias)).to(x.scalar_type());
}

}  // namespace stoker

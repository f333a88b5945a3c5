#include "stoker/nn/layers/shared_statistics.h"

#include <barrier>
#include <thread>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "stoker/nn/layers/layers.h"

namespace stoker {
namespace {

// Ranks as threads that add up in turn.
class ThreadRanks {
 public:
  explicit ThreadRanks(int ranks) : barrier_(ranks), ranks_(ranks), parts_(ranks) {}

  void sum(int rank, const at::Tensor& tensor) {
    const at::NoGradGuard no_grad;
    parts_[static_cast<std::size_t>(rank)] = tensor.clone();
    barrier_.arrive_and_wait();
    tensor.zero_();
    for (const at::Tensor& part : parts_) tensor.add_(part);
    barrier_.arrive_and_wait();
  }
  [[nodiscard]] int ranks() const { return ranks_; }

 private:
  std::barrier<> barrier_;
  int ranks_;
  std::vector<at::Tensor> parts_;
};

struct Outcome {
  at::Tensor y, x_slope, weight_slope, bias_slope, mean, variance;
};

// The loss is a sum over samples, so parts add up to the whole.
Outcome outcome_of(const at::Tensor& x, const at::Tensor& slopes) {
  BatchNorm norm(3);
  const at::Tensor leaf = x.detach().clone().requires_grad_(true);
  const at::Tensor y = norm(leaf, {.training = true});
  (y * slopes).sum().backward();
  return {y.detach(),       leaf.grad(),       norm.weight.grad(),
          norm.bias.grad(), norm.running_mean, norm.running_variance};
}

// As autograd does on devices that are not CPUs.
TEST(SharedStatistics, TheBackwardPassMayRunInAnotherThread) {
  const SharedStatistics alone([](const at::Tensor&) {});
  const at::Tensor x = at::randn({5, 3, 4, 2}), slopes = at::randn({5, 3, 4, 2});
  const Outcome here = outcome_of(x, slopes);
  BatchNorm norm(3);
  const at::Tensor leaf = x.detach().clone().requires_grad_(true);
  const at::Tensor y = norm(leaf, {.training = true});
  std::jthread([&] { (y * slopes).sum().backward(); }).join();
  EXPECT_TRUE(at::equal(leaf.grad(), here.x_slope));
}

// Three ranks with 4, 1 and 0 samples of a batch of 5 compute what one does with all of them.
TEST(SharedStatistics, AnySplitGivesWhatTheWholeBatchGives) {
  at::manual_seed(5);
  const at::Tensor x = at::randn({5, 3, 4, 2}) * 3 + 7, slopes = at::randn({5, 3, 4, 2});
  const Outcome whole = outcome_of(x, slopes);
  const std::vector<std::int64_t> first = {0, 4, 5, 5};
  ThreadRanks ranks(3);
  std::vector<Outcome> parts(3);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      const auto r = static_cast<std::size_t>(rank);
      const SharedStatistics shared([&](const at::Tensor& tensor) { ranks.sum(rank, tensor); });
      const std::int64_t count = first[r + 1] - first[r];
      parts[r] = outcome_of(x.narrow(0, first[r], count), slopes.narrow(0, first[r], count));
    });
  }
  threads.clear();
  const auto near = [](const at::Tensor& a, const at::Tensor& b) {
    return at::allclose(a, b, 1e-5, 1e-5);
  };
  for (std::size_t r = 0; r < 3; ++r) {
    const std::int64_t count = first[r + 1] - first[r];
    EXPECT_TRUE(near(parts[r].y, whole.y.narrow(0, first[r], count))) << r;
    EXPECT_TRUE(near(parts[r].x_slope, whole.x_slope.narrow(0, first[r], count))) << r;
    EXPECT_TRUE(near(parts[r].mean, whole.mean)) << r;
    EXPECT_TRUE(near(parts[r].variance, whole.variance)) << r;
  }
  EXPECT_TRUE(near(parts[0].weight_slope + parts[1].weight_slope + parts[2].weight_slope,
                   whole.weight_slope));
  EXPECT_TRUE(
      near(parts[0].bias_slope + parts[1].bias_slope + parts[2].bias_slope, whole.bias_slope));
  EXPECT_FALSE(SharedStatistics::active());
}

// Without sharing, a rank that has no sample leaves the statistics as they are.
TEST(SharedStatistics, AnEmptyPartChangesNoStatistics) {
  const Outcome empty = outcome_of(at::empty({0, 3, 4, 2}), at::empty({0, 3, 4, 2}));
  EXPECT_TRUE(at::equal(empty.mean, at::zeros({3})));
  EXPECT_TRUE(at::equal(empty.variance, at::ones({3})));
  EXPECT_TRUE(at::equal(empty.weight_slope, at::zeros({3})));
}

}  // namespace
}  // namespace stoker

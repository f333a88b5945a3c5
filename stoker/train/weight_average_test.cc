#include "stoker/train/weight_average.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/train/test_runs.h"

namespace stoker {
namespace {

at::Tensor first_weight(const Model& model) { return model.parameters().front().tensor; }

TEST(WeightAverage, IsTheExponentialMeanOfTheWeights) {
  State state = test::new_state();
  WeightAverage average(*state.model, {.decay = 0.75});
  const at::NoGradGuard no_grad;
  at::Tensor weight = first_weight(*state.model);
  at::Tensor expected = weight.clone();
  for (std::uint64_t step = 0; step < 5; ++step) {
    weight.add_(1);
    average.update(step);
    expected = 0.75 * expected + 0.25 * weight;
  }
  EXPECT_TRUE(at::allclose(average.tensors().front().tensor, expected, 1e-6, 1e-6));
}

TEST(WeightAverage, WarmUpForgetsTheFirstWeightsSooner) {
  State state = test::new_state();
  WeightAverage slow(*state.model, {.decay = 0.999});
  WeightAverage warm(*state.model, {.decay = 0.999, .warmup = true});
  const at::NoGradGuard no_grad;
  at::Tensor weight = first_weight(*state.model);
  weight.fill_(100);
  slow.update(0);
  warm.update(0);
  const auto distance = [&](const WeightAverage& average) {
    return (average.tensors().front().tensor - 100).abs().mean().item<double>();
  };
  EXPECT_LT(distance(warm), 0.2 * distance(slow));
}

// Running statistics of frozen stages are averaged where training moves them.
TEST(WeightAverage, HoldsTheStatisticsOfFrozenNormsThatAreTrained) {
  State state = test::new_state("cnn:4,8");
  Model& model = *state.model;
  model.freeze(model.stages().size() - 1);
  const std::size_t head = model.trainable_parameters().size();
  EXPECT_EQ(WeightAverage(model, {.decay = 0.9}).tensors().size(), head);
  model.train_frozen_norms(true);
  EXPECT_EQ(WeightAverage(model, {.decay = 0.9}).tensors().size(), head + model.buffers().size());
}

TEST(WeightAverage, IsInUseForAScopeOnly) {
  State state = test::new_state();
  WeightAverage average(*state.model, {.decay = 0.5});
  const at::NoGradGuard no_grad;
  at::Tensor weight = first_weight(*state.model);
  weight.add_(1);
  const at::Tensor own = weight.clone();
  {
    const WeightAverage::InUse in_use(&average);
    EXPECT_TRUE(at::equal(weight, average.tensors().front().tensor));
    EXPECT_FALSE(at::equal(weight, own));
  }
  EXPECT_TRUE(at::equal(weight, own));
}

TEST(WeightAverage, EqualMeansCountTheEndsOfEpochsFromOneOn) {
  State state = test::new_state();
  WeightAverage average(*state.model, {.equal_from = 2});
  const at::NoGradGuard no_grad;
  at::Tensor weight = first_weight(*state.model);
  const at::Tensor before = weight.clone();
  for (std::uint32_t epoch = 0; epoch < 5; ++epoch) {
    weight.fill_(epoch == 1 ? 1000 : static_cast<double>(epoch));
    average.update(epoch);  // steps do not count
    average.end_epoch(epoch);
    EXPECT_EQ(average.exists_after(epoch), epoch >= 2);
    EXPECT_EQ(at::equal(average.tensors().front().tensor, before), epoch < 2);
  }
  EXPECT_TRUE(at::allclose(average.tensors().front().tensor, at::full_like(weight, 3.0)));
}

TEST(WeightAverage, DecaysThatMakeNoSenseAreErrors) {
  const State state = test::new_state();
  EXPECT_THROW(WeightAverage(*state.model, {.decay = 1}), Error);
  EXPECT_THROW(WeightAverage(*state.model, {.decay = -0.5}), Error);
  EXPECT_THROW(WeightAverage(*state.model, {.decay = 0.5, .equal_from = 1}), Error);
}

}  // namespace
}  // namespace stoker

#include "stoker/train/optimiser.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

// Two parameters: one with weight decay and, as convolutions have it, channels last; one without.
std::vector<NamedTensor> parameters() {
  torch::manual_seed(1);
  return {{"w", torch::rand({4, 3, 3, 3}).contiguous(at::MemoryFormat::ChannelsLast)},
          {"b", torch::rand({5})}};
}

// Its gradient at some step: anything that changes from step to step.
at::Tensor gradient(const at::Tensor& parameter, int step) {
  return parameter.detach().contiguous().mul(0.3 + step).sin();
}

std::vector<at::Tensor> after_steps(const OptimiserOptions& options, int steps) {
  const auto named = parameters();
  Optimiser optimiser({{"all", named}}, options);
  for (int step = 0; step < steps; ++step) {
    for (const NamedTensor& p : named) {
      at::Tensor(p.tensor).mutable_grad() = gradient(p.tensor, step);
    }
    optimiser.step(0.05);
    EXPECT_FALSE(named[0].tensor.grad().defined()) << "gradients are forgotten";
  }
  return {named[0].tensor, named[1].tensor};
}

// LibTorch's own optimiser, with two groups of parameters.
template <class Reference, class Options>
std::vector<at::Tensor> reference_after_steps(Options options, double weight_decay, int steps) {
  auto named = parameters();
  for (NamedTensor& p : named) p.tensor.requires_grad_(true);
  Options without = options;
  options.weight_decay(weight_decay);
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<at::Tensor>{named[0].tensor}, std::make_unique<Options>(options));
  groups.emplace_back(std::vector<at::Tensor>{named[1].tensor}, std::make_unique<Options>(without));
  Reference reference(groups, without);
  for (int step = 0; step < steps; ++step) {
    for (NamedTensor& p : named) p.tensor.mutable_grad() = gradient(p.tensor, step);
    reference.step();
  }
  return {named[0].tensor.detach(), named[1].tensor.detach()};
}

void expect_close(const std::vector<at::Tensor>& ours, const std::vector<at::Tensor>& theirs) {
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_TRUE(at::allclose(ours[i], theirs[i], 1e-4, 1e-6)) << ours[i] - theirs[i];
  }
}

TEST(Optimiser, SgdIsLibTorchs) {
  for (const double momentum : {0.0, 0.9}) {
    for (const bool nesterov : {false, true}) {
      if (nesterov && momentum == 0) continue;
      const auto options = torch::optim::SGDOptions(0.05).momentum(momentum).nesterov(nesterov);
      expect_close(after_steps({.kind = nesterov ? OptimiserKind::kSgd : OptimiserKind::kMomentum,
                                .momentum = momentum,
                                .weight_decay = 0.1},
                               5),
                   reference_after_steps<torch::optim::SGD>(options, 0.1, 5));
    }
  }
}

TEST(Optimiser, AdamIsLibTorchs) {
  expect_close(after_steps({.kind = OptimiserKind::kAdam, .weight_decay = 0.1}, 5),
               reference_after_steps<torch::optim::Adam>(
                   torch::optim::AdamOptions(0.05).weight_decay(0), 0.1, 5));
}

TEST(Optimiser, AdamWIsLibTorchs) {
  expect_close(after_steps({.kind = OptimiserKind::kAdamW, .weight_decay = 0.1}, 5),
               reference_after_steps<torch::optim::AdamW>(
                   torch::optim::AdamWOptions(0.05).weight_decay(0), 0.1, 5));
}

// By hand, rate 0.5, decay 0.2, β1 0.75, β2 0.5. First step: g = 1, w = 2 · 0.9 - 0.5 = 1.3 and
// m = 0.5. Second: g = -1, c = 0.75 · 0.5 - 0.25 = 0.125, so w = 1.3 · 0.9 - 0.5 = 0.67 and
// m = -0.25, although the gradient points the other way. Third: g = 0.75, c = 0, so w only decays.
TEST(Optimiser, LionFollowsTheSignOfMomentumAndGradient) {
  const NamedTensor w{"w", at::full({1, 1}, 2.0F)}, b{"b", at::full({1}, 2.0F)};
  Optimiser optimiser(
      {{"all", {w, b}}},
      {.kind = OptimiserKind::kLion, .beta1 = 0.75, .beta2 = 0.5, .weight_decay = 0.2});
  const double weights[] = {1.3, 0.67, 0.603}, biases[] = {1.5, 1, 1};
  const double moments[] = {0.5, -0.25, 0.25}, slopes[] = {1, -1, 0.75};
  for (int step = 0; step < 3; ++step) {
    for (const NamedTensor& p : {w, b}) {
      at::Tensor(p.tensor).mutable_grad() = at::full_like(p.tensor, slopes[step]);
    }
    optimiser.step(0.5);
    EXPECT_NEAR(w.tensor.item<double>(), weights[step], 1e-6) << step;
    EXPECT_NEAR(b.tensor.item<double>(), biases[step], 1e-6) << "biases do not decay";
    EXPECT_EQ(optimiser.state()[0].tensor.item<double>(), moments[step]);
  }
}

// timm 1.0.30: timm.optim.Lion, two groups with weight_decay 0.1 and 0, lr 0.05, betas (0.9, 0.99).
TEST(Optimiser, LionIsTimms) {
  const NamedTensor w{"w", at::tensor({0.5F, -0.25F, 1.0F, 2.0F}).view({2, 2})};
  const NamedTensor b{"b", at::tensor({0.5F, -1.5F})};
  Optimiser optimiser({{"all", {w, b}}},
                      {.kind = OptimiserKind::kLion, .beta2 = 0.99, .weight_decay = 0.1});
  for (int step = 0; step < 6; ++step) {
    for (const NamedTensor& p : {w, b}) {
      at::Tensor(p.tensor).mutable_grad() = (p.tensor * (0.3 + 2 * step)).sin() - 0.25 * step;
    }
    optimiser.step(0.05);
  }
  const auto expect = [](const at::Tensor& found, const std::vector<double>& expected) {
    EXPECT_TRUE(at::allclose(found.flatten(), at::tensor(expected, at::kFloat), 1e-6, 1e-7))
        << found;
  };
  expect(w.tensor, {0.388411343, 0.0536817685, 1.07110751, 2.04098749});
  expect(b.tensor, {0.399999976, -1.20000029});
  const std::vector<NamedTensor> state = optimiser.state();
  ASSERT_EQ(state.size(), 2U);
  EXPECT_EQ(state[0].name, "w.first_moment");
  expect(state[0].tensor, {-0.00659270445, -0.0566870086, -0.0357553102, -0.03319709});
  expect(state[1].tensor, {-0.00829856005, -0.0379119851});
}

TEST(Optimiser, AParameterWithoutAGradientStays) {
  const auto named = parameters();
  const at::Tensor before = named[0].tensor.clone();
  Optimiser optimiser({{"all", named}}, {.kind = OptimiserKind::kAdamW, .weight_decay = 0.1});
  at::Tensor(named[1].tensor).mutable_grad() = at::ones({5});
  optimiser.step(0.1);
  EXPECT_TRUE(at::equal(named[0].tensor, before));
}

TEST(Optimiser, ClipsTheCommonNorm) {
  const auto named = parameters();
  Optimiser optimiser({{"all", named}}, {});
  at::Tensor(named[0].tensor).mutable_grad() = at::full({4, 3, 3, 3}, 0.0);
  at::Tensor(named[1].tensor).mutable_grad() = at::tensor({3.0F, 4.0F, 0.0F, 0.0F, 0.0F});
  EXPECT_NEAR(optimiser.clip_gradients(10), 5, 1e-6);
  EXPECT_NEAR(named[1].tensor.grad().norm().item<double>(), 5, 1e-6);
  EXPECT_NEAR(optimiser.clip_gradients(1), 5, 1e-6);
  EXPECT_NEAR(named[1].tensor.grad().norm().item<double>(), 1, 1e-6);
}

TEST(Optimiser, NamesEverythingThatItRemembers) {
  EXPECT_TRUE(Optimiser({{"all", parameters()}}, {.momentum = 0}).state().empty());
  EXPECT_EQ(Optimiser({{"all", parameters()}}, {}).state().size(), 2U);
  EXPECT_EQ(Optimiser({{"all", parameters()}}, {.kind = OptimiserKind::kAdam}).state().size(), 6U);
}

TEST(Optimiser, WrongOptionsAreErrors) {
  EXPECT_THROW(Optimiser({{"all", parameters()}}, {.momentum = 1}), Error);
  EXPECT_THROW(Optimiser({{"all", parameters()}}, {.weight_decay = -1}), Error);
  EXPECT_THROW(static_cast<void>(parse_optimiser_kind("adm")), Error);
  EXPECT_EQ(parse_optimiser_kind("adamw"), OptimiserKind::kAdamW);
}

TEST(Optimiser, EarlierStagesLearnAtAShareOfTheRate) {
  std::vector<ModelStage> stages;
  for (const char* name : {"first", "middle", "head"}) {
    stages.push_back({name, {{std::string(name) + ".weight", at::zeros({2, 2})}}});
  }
  Optimiser optimiser(stages, {.momentum = 0, .layer_decay = 0.5});
  for (const ModelStage& stage : stages) {
    at::Tensor(stage.parameters[0].tensor).mutable_grad() = at::ones({2, 2});
  }
  optimiser.step(1);
  const auto moved = [&](std::size_t i) {
    return -stages[i].parameters[0].tensor[0][0].item<double>();
  };
  EXPECT_EQ(moved(2), 1);
  EXPECT_EQ(moved(1), 0.5);
  EXPECT_EQ(moved(0), 0.25);
}

TEST(Optimiser, ScaledGradientsComeBackAndInfiniteOnesAreFound) {
  const auto named = parameters();
  Optimiser optimiser({{"all", named}}, {});
  at::Tensor& gradient = at::Tensor(named[1].tensor).mutable_grad();
  gradient = at::full({5}, 1024.0F);
  EXPECT_TRUE(optimiser.unscale_gradients(1024));
  EXPECT_TRUE(at::equal(named[1].tensor.grad(), at::ones({5})));
  named[1].tensor.grad()[3] = INFINITY;
  EXPECT_FALSE(optimiser.unscale_gradients(1024));
  optimiser.forget_gradients();
  EXPECT_FALSE(named[1].tensor.grad().defined());
}

}  // namespace
}  // namespace stoker

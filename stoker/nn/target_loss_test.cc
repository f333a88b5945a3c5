#include "stoker/nn/target_loss.h"

#include <vector>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"
#include "stoker/nn/networks/mlp.h"
#include "stoker/nn/networks/registry.h"

namespace stoker {
namespace {

using Numbers = std::vector<double>;

at::Tensor rows_of_three(const Numbers& values) {
  return at::tensor(values, at::kFloat).view({-1, 3});
}

const Numbers kPresent = {1, 0, 1, 0, 1, 0, 1, 0, 1};

// Losses of the samples and the slope of their mean by the outputs.
void expect_loss(const LossOptions& options, const Numbers& x, const Numbers& y,
                 const Numbers& losses, const Numbers& slope) {
  const at::AutoGradMode grad(true);
  const at::Tensor outputs = rows_of_three(x).requires_grad_(true);
  const at::Tensor found = target_losses(outputs, rows_of_three(y), options);
  mean_target_loss(outputs, rows_of_three(y), options).backward();
  EXPECT_TRUE(at::allclose(found, at::tensor(losses, at::kFloat), 1e-5, 1e-8)) << found;
  EXPECT_TRUE(at::allclose(outputs.grad(), rows_of_three(slope), 1e-5, 1e-9)) << outputs.grad();
}

// torch.nn.functional.binary_cross_entropy_with_logits(x, y, reduction="none").mean(1), and the
// gradient of its mean; 60 is where a sigmoid in float32 is 1.
TEST(TargetLoss, BinaryCrossEntropyIsPyTorchs) {
  const Numbers x = {0.5, -1.25, 3, -2, 0, 0.75, 60, -60, -0.125};
  expect_loss({.kind = LossKind::kBinaryCrossEntropy}, x, kPresent,
              {0.258197784, 0.652315438, 0.252533019},
              {-0.041948963, 0.0247444604, -0.00526954094, 0.0132447686, -0.055555556, 0.0754643008,
               0, 9.72945623e-28, -0.0590232611});
  // The same with y * 0.9 + 0.05.
  expect_loss({.kind = LossKind::kBinaryCrossEntropy, .smoothing = 0.1}, x, kPresent,
              {0.337364465, 0.673148811, 2.2504499},
              {-0.036393404, 0.0191889051, 0.000286016206, 0.00768921291, -0.0500000007,
               0.0699087456, 0.00555555709, -0.00555555569, -0.0534677096});
}

// The expected values are those of torch.nn.functional.mse_loss and huber_loss.
TEST(TargetLoss, SquaredErrorAndHuberArePyTorchs) {
  const Numbers x = {0.5, -1.25, 3, -2, 0, 0.75, 60, -60, -0.125};
  const Numbers y = {0.25, -1, 0.5, 1.5, 0, -2.5, 59.5, -61, 1};
  expect_loss({.kind = LossKind::kSquaredError}, x, y, {2.125, 7.60416651, 0.838541687},
              {0.055555556, -0.055555556, 0.555555582, -0.777777791, 0, 0.722222209, 0.111111112,
               0.222222224, -0.25});
  expect_loss({.kind = LossKind::kHuber}, x, y, {0.6875, 1.91666663, 0.416666657},
              {0.027777778, -0.027777778, 0.111111112, -0.111111112, 0, 0.111111112, 0.055555556,
               0.111111112, -0.111111112});
}

const Numbers kOutputs = {0.5, -1.25, 3, -2, 0, 0.75, 6, -4, -0.125};

// The papers' formulas in numpy's float64; slopes by complex steps of 1e-30:
//   p = 1 / (1 + exp(-x)); -(y (1-p)**g log(p) + (1-y) p**g log(1-p))
TEST(TargetLoss, FocalLossIsThePapers) {
  expect_loss({.kind = LossKind::kFocal}, kOutputs, kPresent,
              {0.0267257618, 0.233170143, 0.0712625857},
              {-0.015326333, 0.00338542841, -3.49857607e-05, 0.000541215577, -0.0331429772,
               0.0721982584, -5.03493826e-09, 1.9278368e-06, -0.03892626});
  expect_loss({.kind = LossKind::kFocal, .focus = {.alpha = 0.25}}, kOutputs, kPresent,
              {0.00876385901, 0.145996475, 0.017816625},
              {-0.00383158326, 0.00253907131, -8.74644018e-06, 0.000405911683, -0.00828574431,
               0.0541486938, -1.25873457e-09, 1.4458776e-06, -0.009731565});
}

//   q = max(p - m, 0); -(y (1-p)**1 log(p) + (1-y) q**4 log(1-q)), m = 0.05 and 0
TEST(TargetLoss, AsymmetricLossIsThePapers) {
  expect_loss({.kind = LossKind::kAsymmetric}, kOutputs, kPresent,
              {0.0604854292, 0.167345601, 0.134149943},
              {-0.028216312, 9.58115179e-05, -0.000493803077, 1.39651649e-06, -0.0470318661,
               0.0341598304, -1.35779619e-06, 0, -0.0523161374});
  expect_loss({.kind = LossKind::kAsymmetric, .focus = {.margin = 0}}, kOutputs, kPresent,
              {0.0606357696, 0.19616855, 0.134149944},
              {-0.028216312, 0.000274939105, -0.000493803077, 1.27064403e-05, -0.0470318661,
               0.050550266, -1.35779619e-06, 1.03817587e-09, -0.0523161374});
}

TEST(TargetLoss, NoLossAndNoSlopeIsNaNForLargeOutputs) {
  const at::AutoGradMode grad(true);
  for (const std::string& name : losses_of(Task::kMultilabel)) {
    for (const double gamma : {0.0, 0.5, 2.0}) {
      const at::Tensor x = rows_of_three({1e4, -1e4, 90, -90, 1e4, -1e4}).requires_grad_(true);
      const at::Tensor y = rows_of_three({1, 1, 0, 0, 0, 0});
      const LossOptions options{.kind = parse_loss_kind(name), .focus = {.gamma = gamma}};
      const at::Tensor loss = mean_target_loss(x, y, options);
      loss.backward();
      EXPECT_TRUE(loss.isfinite().item<bool>()) << name;
      EXPECT_TRUE(x.grad().isfinite().all().item<bool>()) << name;
    }
  }
}

TEST(TargetLoss, WeightsOfOutputsAndSamplesMultiplyTheirLosses) {
  const at::Tensor x = rows_of_three(kOutputs), y = rows_of_three(kPresent);
  LossOptions options{.kind = LossKind::kBinaryCrossEntropy};
  const at::Tensor plain = at::binary_cross_entropy_with_logits(x, y, {}, {}, at::Reduction::None);
  options.class_weights = at::tensor({0.5F, 2.0F, 0.0F});
  EXPECT_TRUE(at::allclose(target_losses(x, y, options), (plain * options.class_weights).mean(1)));
  options.class_weights = at::Tensor();
  options.sample_weights = at::tensor({3.0F, 0.0F, 0.5F});
  // Divided by three samples, not by 3.5.
  EXPECT_NEAR(mean_target_loss(x, y, options).item<double>(),
              (3 * plain[0].mean() + 0.5 * plain[2].mean()).item<double>() / 3, 1e-7);
}

TEST(TargetLoss, AMixedBatchHasBothLosses) {
  const at::Tensor x = rows_of_three(kOutputs), y = rows_of_three(kPresent);
  LossOptions options{.kind = LossKind::kSquaredError};
  options.sample_weights = at::tensor({1.0F, 2.0F, 4.0F});
  options.partner_labels = y.flip(0);
  options.partner_weights = options.sample_weights.flip(0);
  options.own_share = 0.75;
  const auto loss = [&](const at::Tensor& targets, const at::Tensor& weights) {
    return ((x - targets).square().mean(1) * weights).mean().item<double>();
  };
  EXPECT_NEAR(
      mean_target_loss(x, y, options).item<double>(),
      0.75 * loss(y, options.sample_weights) + 0.25 * loss(y.flip(0), options.partner_weights),
      1e-5);
  options.partner_weights = at::Tensor();
  EXPECT_THROW((void)mean_target_loss(x, y, options), InvariantError);
}

TEST(TargetLoss, ARankWithoutSamplesAddsNothing) {
  Mlp mlp({4, 3}, Activation::kRelu, 1);
  for (const Task task : {Task::kMultilabel, Task::kRegress}) {
    const auto pass =
        mlp.backward(at::zeros({0, 4}), at::zeros({0, 3}), {.kind = default_loss(task)});
    EXPECT_EQ(pass.loss.item<double>(), 0);
    EXPECT_EQ(mlp.layers().weights[0].grad().abs().max().item<double>(), 0);
  }
}

// The perceptron's layers are written out: its gradients against autograd's through all of it.
TEST(TargetLoss, GradientsOfAPerceptronEqualAutograds) {
  at::manual_seed(3);
  const at::Tensor x = at::rand({7, 6});
  const at::Tensor y = at::randint(2, {7, 3}, at::kFloat), partners = y.flip(0);
  for (const std::string& name : loss_names()) {
    if (name == "cross-entropy") continue;
    Mlp mlp({6, 5, 3}, Activation::kRelu, 3);
    LossOptions options{.kind = parse_loss_kind(name), .weight = 7};
    options.class_weights = at::tensor({0.5F, 1.0F, 2.0F});
    options.sample_weights = at::rand({7});
    options.partner_labels = partners;
    options.partner_weights = options.sample_weights.flip(0);
    options.own_share = 0.6;
    const auto pass = mlp.backward(x, y, options);
    std::vector<at::Tensor> gradients;
    for (const NamedTensor& named : mlp.parameters()) {
      at::Tensor parameter = named.tensor;
      gradients.push_back(parameter.grad());
      parameter.mutable_grad().reset();
      parameter.requires_grad_(true);
    }
    const at::AutoGradMode grad(true);
    const auto& [weights, biases] = mlp.layers();
    const at::Tensor z =
        at::addmm(biases[1], at::relu(at::addmm(biases[0], x, weights[0])), weights[1]);
    (mean_target_loss(z, y, options) * 7).backward();
    EXPECT_TRUE(at::allclose(pass.logits, z.detach()));
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const at::Tensor expected = mlp.parameters()[i].tensor.grad();
      EXPECT_TRUE(at::allclose(gradients[i], expected, 1e-4, 1e-6)) << name << i;
    }
  }
}

TEST(TargetLoss, ANetworkOfAutogradLearnsFromTargets) {
  const ModelInput input{.image = {8, 8, 1}, .classes = 3};
  at::manual_seed(2);
  const at::Tensor x = at::rand({6, 1, 8, 8}), y = at::randint(2, {6, 3}, at::kFloat);
  for (const std::string& name : loss_names()) {
    if (name == "cross-entropy") continue;
    const auto model = make_model("cnn:4,8", input, 1);
    const LossOptions options{.kind = parse_loss_kind(name)};
    const auto pass = model->backward(x, y, options);
    EXPECT_NEAR(pass.loss.item<double>(),
                target_losses(pass.logits, y, options).mean().item<double>(), 1e-6);
    for (const NamedTensor& p : model->parameters()) {
      EXPECT_GT(p.tensor.grad().abs().max().item<double>(), 0) << name << " " << p.name;
    }
  }
}

TEST(TargetLoss, WhatDoesNotFitIsRefused) {
  const at::Tensor x = at::zeros({2, 3});
  const auto message = [&](const LossOptions& options) {
    return message_of([&] { (void)target_losses(x, x, options); });
  };
  using testing::HasSubstr;
  EXPECT_THAT(message({}), HasSubstr("the loss needs one class for each sample"));
  EXPECT_THAT(message({.kind = LossKind::kHuber, .smoothing = 0.1}), HasSubstr("smoothed"));
  EXPECT_THAT(message({.kind = LossKind::kAsymmetric, .focus = {.gamma_absent = 0.5}}),
              HasSubstr("0, or 1 or more"));
  EXPECT_THAT(message({.kind = LossKind::kFocal, .focus = {.alpha = 1.5}}), HasSubstr("0 to 1"));
  Mlp sigmoid({3, 3}, Activation::kSigmoid, 3, OutputActivation::kSigmoid);
  EXPECT_THAT(message_of([&] { sigmoid.backward(x, x, {.kind = LossKind::kHuber}); }),
              HasSubstr("only classifies"));
  Mlp mlp({3, 3}, Activation::kSigmoid, 3);
  EXPECT_THAT(
      message_of([&] { mlp.backward(x, at::zeros({2}, at::kLong), {.kind = LossKind::kHuber}); }),
      HasSubstr("one of cross-entropy, mse"));
}

TEST(TargetLoss, EveryTaskHasItsLosses) {
  using testing::ElementsAre;
  EXPECT_THAT(losses_of(Task::kClassify), ElementsAre("cross-entropy", "mse", "bce"));
  EXPECT_THAT(losses_of(Task::kMultilabel), ElementsAre("bce", "focal", "asymmetric"));
  EXPECT_THAT(losses_of(Task::kRegress), ElementsAre("mse", "huber"));
  EXPECT_EQ(default_loss(Task::kRegress), LossKind::kSquaredError);
  EXPECT_NO_THROW(check_loss(Task::kMultilabel, LossKind::kFocal));
  const std::string message =
      message_of([] { check_loss(Task::kMultilabel, LossKind::kSquaredError); });
  EXPECT_THAT(message, testing::HasSubstr("the task multilabel"));
  EXPECT_THAT(message, testing::HasSubstr("bce, focal, asymmetric"));
  EXPECT_THAT(message, testing::HasSubstr("mse"));
}

TEST(TargetLoss, PredictionsAreWhatTheTaskSays) {
  const at::Tensor logits = rows_of_three({0, 0, 0, 2, -2, 0});
  EXPECT_TRUE(at::equal(predictions_of(Task::kClassify, logits), logits.softmax(1)));
  EXPECT_TRUE(at::equal(predictions_of(Task::kMultilabel, logits), logits.sigmoid()));
  EXPECT_TRUE(at::equal(predictions_of(Task::kRegress, logits), logits));
}

}  // namespace
}  // namespace stoker

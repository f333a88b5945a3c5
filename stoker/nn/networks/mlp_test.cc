#include "stoker/nn/networks/mlp.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

struct MlpProblem {
  torch::Tensor x, labels;
};

MlpProblem random_mlp_problem(std::int64_t samples, std::int64_t inputs, std::int64_t classes) {
  torch::manual_seed(1);
  return {torch::rand({samples, inputs}), torch::randint(classes, {samples}, torch::kLong)};
}

double gradient_difference(const torch::Tensor& a, const torch::Tensor& b) {
  return (a - b).norm().item<double>() / b.norm().item<double>();
}

void expect_autograds_gradients(Mlp& mlp, const MlpProblem& problem, double smoothing) {
  const double ours =
      mlp.backward(problem.x, problem.labels, {.smoothing = smoothing}).loss.item<double>();
  std::vector<torch::Tensor> gradients;
  for (const NamedTensor& named : mlp.parameters()) {
    torch::Tensor parameter = named.tensor;
    gradients.push_back(parameter.grad());
    parameter.mutable_grad().reset();
    parameter.requires_grad_(true);
  }
  const auto options = torch::nn::functional::CrossEntropyFuncOptions().label_smoothing(smoothing);
  const torch::Tensor loss =
      torch::nn::functional::cross_entropy(mlp.forward(problem.x), problem.labels, options);
  loss.backward();
  EXPECT_NEAR(ours, loss.item<double>(), 1e-5);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    torch::Tensor parameter = mlp.parameters()[i].tensor;
    EXPECT_LE(gradient_difference(gradients[i], parameter.grad()), 1e-5);
    parameter.mutable_grad().reset();
    parameter.requires_grad_(false);
  }
}

// The backward pass written out, against autograd over the same forward pass.
TEST(Mlp, GradientsEqualAutograds) {
  for (const Activation activation : {Activation::kSigmoid, Activation::kRelu}) {
    for (const LayerSizes& sizes :
         {LayerSizes{20, 5}, LayerSizes{20, 16, 5}, LayerSizes{784, 128, 64, 10}}) {
      Mlp mlp(sizes, activation, 3);
      const MlpProblem problem = random_mlp_problem(32, sizes.front(), sizes.back());
      for (const double smoothing : {0.0, 0.1}) expect_autograds_gradients(mlp, problem, smoothing);
    }
  }
}

// Of mixed samples: as the two losses apart, each with its share.
TEST(Mlp, AMixedLossIsTheTwoLossesByTheirShares) {
  Mlp mlp({20, 16, 5}, Activation::kRelu, 3);
  const MlpProblem problem = random_mlp_problem(9, 20, 5);
  const auto gradient_of = [&](const LossOptions& options, const at::Tensor& labels) {
    const double loss = mlp.backward(problem.x, labels, options).loss.item<double>();
    at::Tensor parameter = mlp.parameters().front().tensor;
    const at::Tensor gradient = parameter.grad();
    for (const NamedTensor& named : mlp.parameters()) {
      at::Tensor tensor = named.tensor;
      tensor.mutable_grad().reset();
    }
    return std::pair(loss, gradient);
  };
  const at::Tensor partners = problem.labels.flip(0);
  const auto own = gradient_of({.smoothing = 0.1}, problem.labels);
  const auto other = gradient_of({.smoothing = 0.1}, partners);
  const auto mixed =
      gradient_of({.smoothing = 0.1, .partner_labels = partners, .own_share = 0.7}, problem.labels);
  EXPECT_NEAR(mixed.first, 0.7 * own.first + 0.3 * other.first, 1e-6);
  EXPECT_LE(gradient_difference(mixed.second, 0.7 * own.second + 0.3 * other.second), 1e-5);
}

TEST(Mlp, ForwardIsTheFormulaOfTheAssignment) {
  const Mlp mlp({3, 4, 2}, Activation::kSigmoid, 5);
  const torch::Tensor x = torch::rand({1, 3});
  const auto& [weights, biases] = mlp.layers();
  const torch::Tensor hidden = torch::sigmoid(weights[0].t().mv(x[0]) + biases[0]);
  const torch::Tensor expected = weights[1].t().mv(hidden) + biases[1];
  EXPECT_TRUE(torch::allclose(mlp.forward(x)[0], expected, 1e-5, 1e-6));
}

TEST(Mlp, TakesImagesAsTheyComeFromTheFeed) {
  const Mlp mlp({784, 10}, Activation::kRelu, 5);
  EXPECT_EQ(mlp.forward(torch::rand({7, 1, 28, 28})).sizes(), at::IntArrayRef({7, 10}));
  EXPECT_THROW(static_cast<void>(mlp.forward(torch::rand({7, 3, 28, 28}))), Error);
}

TEST(Mlp, DescendingItsGradientLowersTheLoss) {
  Mlp mlp({20, 16, 5}, Activation::kSigmoid, 3);
  const MlpProblem problem = random_mlp_problem(64, 20, 5);
  const double before = mlp.backward(problem.x, problem.labels, {}).loss.item<double>();
  for (int step = 0; step < 50; ++step) {
    for (const NamedTensor& named : mlp.parameters()) {
      torch::Tensor parameter = named.tensor;
      parameter.sub_(parameter.grad(), 0.5);
      parameter.mutable_grad().reset();
    }
    mlp.backward(problem.x, problem.labels, {});
  }
  EXPECT_LT(mlp.backward(problem.x, problem.labels, {}).loss.item<double>(), before - 0.02);
}

TEST(Mlp, PartsOfABatchAddUpToItsGradient) {
  Mlp mlp({20, 16, 5}, Activation::kSigmoid, 3);
  const MlpProblem problem = random_mlp_problem(12, 20, 5);
  mlp.backward(problem.x, problem.labels, {});
  const torch::Tensor whole = mlp.layers().weights[0].grad();
  for (auto& weight : mlp.layers().weights) weight.mutable_grad().reset();
  mlp.backward(problem.x.slice(0, 0, 8), problem.labels.slice(0, 0, 8), {.weight = 8 / 12.0});
  mlp.backward(problem.x.slice(0, 8), problem.labels.slice(0, 8), {.weight = 4 / 12.0});
  EXPECT_LE(gradient_difference(mlp.layers().weights[0].grad(), whole), 1e-5);
}

TEST(Mlp, ABatchOnAnotherDeviceIsAnErrorThatNamesBoth) {
  Mlp mlp({20, 5}, Activation::kSigmoid, 3);
  mlp.to(torch::kMeta);
  const ErrorDetails error = error_of([&] {
    static_cast<void>(mlp.forward(torch::rand({2, 20})));
  });
  EXPECT_NE(error.expected.find("meta"), std::string::npos);
  EXPECT_NE(error.found.find("cpu"), std::string::npos);
}

}  // namespace
}  // namespace stoker

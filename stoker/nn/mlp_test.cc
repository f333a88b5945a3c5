#include "stoker/nn/mlp.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

struct Problem {
  torch::Tensor x, labels;
};

Problem random_problem(std::int64_t samples, std::int64_t inputs, std::int64_t classes) {
  torch::manual_seed(1);
  return {torch::rand({samples, inputs}), torch::randint(classes, {samples}, torch::kLong)};
}

double relative_difference(const torch::Tensor& a, const torch::Tensor& b) {
  return (a - b).norm().item<double>() / b.norm().item<double>();
}

// The backward pass written out, against autograd over the same forward pass.
TEST(Mlp, GradientsEqualAutograds) {
  for (const Activation activation : {Activation::kSigmoid, Activation::kRelu}) {
    for (const LayerSizes& sizes :
         {LayerSizes{20, 5}, LayerSizes{20, 16, 5}, LayerSizes{784, 128, 64, 10}}) {
      Mlp mlp(sizes, activation, 3);
      const Problem problem = random_problem(32, sizes.front(), sizes.back());
      const Mlp::Gradients ours = mlp.gradients(problem.x, problem.labels);
      for (auto& weight : mlp.parameters().weights) weight.requires_grad_(true);
      for (auto& bias : mlp.parameters().biases) bias.requires_grad_(true);
      const torch::Tensor loss =
          torch::nn::functional::cross_entropy(mlp.forward(problem.x), problem.labels);
      loss.backward();
      EXPECT_NEAR(ours.loss, loss.item<double>(), 1e-5);
      for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
        EXPECT_LE(
            relative_difference(ours.parameters.weights[i], mlp.parameters().weights[i].grad()),
            1e-5);
        EXPECT_LE(relative_difference(ours.parameters.biases[i], mlp.parameters().biases[i].grad()),
                  1e-5);
      }
    }
  }
}

TEST(Mlp, ForwardIsTheFormulaOfTheAssignment) {
  const Mlp mlp({3, 4, 2}, Activation::kSigmoid, 5);
  const torch::Tensor x = torch::rand({1, 3});
  const auto& [weights, biases] = mlp.parameters();
  const torch::Tensor hidden = torch::sigmoid(weights[0].t().mv(x[0]) + biases[0]);
  const torch::Tensor expected = weights[1].t().mv(hidden) + biases[1];
  EXPECT_TRUE(torch::allclose(mlp.forward(x)[0], expected, 1e-5, 1e-6));
}

TEST(Mlp, TakesPicturesAsTheyComeFromTheFeed) {
  const Mlp mlp({784, 10}, Activation::kRelu, 5);
  EXPECT_EQ(mlp.forward(torch::rand({7, 1, 28, 28})).sizes(), at::IntArrayRef({7, 10}));
  EXPECT_THROW(static_cast<void>(mlp.forward(torch::rand({7, 3, 28, 28}))), Error);
}

TEST(Mlp, DescendingItsGradientLowersTheLoss) {
  Mlp mlp({20, 16, 5}, Activation::kSigmoid, 3);
  const Problem problem = random_problem(64, 20, 5);
  const double before = mlp.gradients(problem.x, problem.labels).loss;
  for (int step = 0; step < 50; ++step) {
    const auto gradients = mlp.gradients(problem.x, problem.labels);
    for (std::size_t i = 0; i < 2; ++i) {
      mlp.parameters().weights[i].sub_(gradients.parameters.weights[i], 0.5);
      mlp.parameters().biases[i].sub_(gradients.parameters.biases[i], 0.5);
    }
  }
  EXPECT_LT(mlp.gradients(problem.x, problem.labels).loss, before - 0.02);
}

}  // namespace
}  // namespace stoker

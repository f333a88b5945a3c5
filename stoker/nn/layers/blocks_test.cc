#include "stoker/nn/layers/blocks.h"

#include <cmath>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

TEST(Blocks, SigmoidIsRightAndSafeForLargeNumbers) {
  const at::Tensor x =
      at::tensor({-1e30F, -1000.0F, -88.0F, -3.0F, 0.0F, 3.0F, 88.0F, 1000.0F, 1e30F});
  const at::Tensor y = stoker::sigmoid(x), slope = sigmoid_prime(x);
  EXPECT_TRUE(at::isfinite(y).all().item<bool>());
  EXPECT_TRUE(at::isfinite(slope).all().item<bool>());
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    const double exact = 1 / (1 + std::exp(-x[i].item<double>()));
    EXPECT_NEAR(y[i].item<double>(), exact, 1e-7);
    EXPECT_NEAR(slope[i].item<double>(), exact * (1 - exact), 1e-7);
  }
  EXPECT_GT(slope[6].item<double>(), 0) << "1 - sigmoid(88) is 0 in float32, the slope is not";
}

TEST(Blocks, SigmoidPrimeIsTheSlope) {
  const at::Tensor x = at::linspace(-6, 6, 101, at::kDouble);
  const double h = 1e-5;
  const at::Tensor numeric = (stoker::sigmoid(x + h) - stoker::sigmoid(x - h)) / (2 * h);
  EXPECT_LE((numeric - sigmoid_prime(x)).abs().max().item<double>(), 1e-9);
}

TEST(Blocks, ShapesFollowTheSizes) {
  const LayerSizes sizes = {784, 128, 10};
  const auto weights = random_weights(sizes, 1), zeros = zeros_weights(sizes),
             biases = zeros_biases(sizes);
  ASSERT_EQ(weights.size(), 2U);
  ASSERT_EQ(zeros.size(), 2U);
  ASSERT_EQ(biases.size(), 2U);
  EXPECT_EQ(weights[0].sizes(), at::IntArrayRef({784, 128}));
  EXPECT_EQ(weights[1].sizes(), at::IntArrayRef({128, 10}));
  EXPECT_EQ(zeros[1].sizes(), at::IntArrayRef({128, 10}));
  EXPECT_EQ(biases[0].sizes(), at::IntArrayRef({128}));
  EXPECT_EQ(biases[1].sizes(), at::IntArrayRef({10}));
  EXPECT_EQ(zeros[0].abs().max().item<float>(), 0);
}

TEST(Blocks, XavierFillsItsRangeAndFollowsTheSeed) {
  const auto weights = random_weights({784, 128, 10}, 7);
  const double bound = std::sqrt(6.0 / (784 + 128));
  EXPECT_LE(weights[0].abs().max().item<double>(), bound * 1.000001);
  EXPECT_NEAR(weights[0].std().item<double>(), bound / std::sqrt(3.0), bound * 0.01);
  EXPECT_NEAR(weights[0].mean().item<double>(), 0, bound * 0.01);
  EXPECT_TRUE(at::equal(weights[0], random_weights({784, 128, 10}, 7)[0]));
  EXPECT_FALSE(at::equal(weights[0], random_weights({784, 128, 10}, 8)[0]));
}

TEST(Blocks, AddElementwiseAddsPairsAndRefusesOthers) {
  const std::vector<at::Tensor> a = {at::ones({2, 3}), at::full({4}, 2.0)};
  const auto sums = add_elementwise(a, a);
  EXPECT_TRUE(at::equal(sums[0], at::full({2, 3}, 2.0)));
  EXPECT_TRUE(at::equal(sums[1], at::full({4}, 4.0)));
  EXPECT_THROW(static_cast<void>(add_elementwise(a, {at::ones({2, 3})})), Error);
  EXPECT_THROW(static_cast<void>(add_elementwise(a, {at::ones({2, 3}), at::ones({5})})), Error);
}

TEST(Blocks, RefusesSizesThatMakeNoNetwork) {
  for (const LayerSizes& sizes :
       {LayerSizes{}, LayerSizes{784}, LayerSizes{784, 0, 10}, LayerSizes{-1, 10}}) {
    EXPECT_THROW(check_layer_sizes(sizes), Error);
  }
}

}  // namespace
}  // namespace stoker

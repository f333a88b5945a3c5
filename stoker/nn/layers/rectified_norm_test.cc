#include "stoker/nn/layers/rectified_norm.h"

#include <limits>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "stoker/nn/layers/layers.h"

namespace stoker {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct NormOutcome {
  at::Tensor y, x_slopes, weight_slopes, bias_slopes, running_mean, running_variance;
};

class RectifiedNormTest : public testing::Test {
 protected:
  RectifiedNormTest() { at::manual_seed(1); }
  ~RectifiedNormTest() override { at::set_num_threads(before_); }

  static at::Tensor drawn(std::vector<std::int64_t> sizes) {
    return (3 * at::randn(sizes) + 5).contiguous(at::MemoryFormat::ChannelsLast);
  }

  // Two steps, so that running statistics move from where they are not 0 and 1.
  template <class Norm>
  NormOutcome outcome(const at::Tensor& values, at::ScalarType type, Norm norm) const {
    const std::int64_t channels = values.size(1);
    const auto leaf = [&](const at::Tensor& t) {
      return t.to(type).detach().clone().requires_grad_();
    };
    const at::Tensor x = leaf(values), weight = leaf(at::linspace(0.5, 2, channels));
    const at::Tensor bias = leaf(at::linspace(-1, 1, channels));
    const at::Tensor mean = at::zeros({channels}, type), variance = at::ones({channels}, type);
    at::Tensor y;
    for (int step = 0; step < 2; ++step) {
      y = norm(x, NormTensors{weight, bias, mean, variance, 0.1, 1e-5});
    }
    (y * at::linspace(-1, 1, y.numel(), type).view_as(y)).sum().backward();
    return {y.detach(), x.grad(), weight.grad(), bias.grad(), mean, variance};
  }

  [[nodiscard]] NormOutcome ours(const at::Tensor& x, const Bounds& bounds) const {
    return outcome(x, at::kFloat, [&](const at::Tensor& values, const NormTensors& norm) {
      return rectified_norm(values, norm, bounds);
    });
  }
  [[nodiscard]] NormOutcome libtorchs(const at::Tensor& x, const Bounds& bounds) const {
    return outcome(x, at::kDouble, [&](const at::Tensor& values, const NormTensors& norm) {
      const at::Tensor z =
          at::batch_norm(values, norm.weight, norm.bias, norm.running_mean, norm.running_variance,
                         true, norm.running_share, norm.variance_floor, false);
      return at::clamp(z, bounds.low, bounds.high);
    });
  }

 private:
  int before_ = at::get_num_threads();
};

void expect_near(const at::Tensor& actual, const at::Tensor& expected, double tolerance) {
  const double scale = expected.abs().max().item<double>();
  EXPECT_LE((actual.to(at::kDouble) - expected).abs().max().item<double>(), tolerance * scale);
}

TEST_F(RectifiedNormTest, IsLibTorchsBatchNormAndClampInDoublePrecision) {
  for (const auto& sizes : std::vector<std::vector<std::int64_t>>{
           {4, 3, 5, 7}, {2, 32, 16, 16}, {3, 20, 33, 9}, {16, 1280, 1, 1}, {8, 96, 56, 56}}) {
    for (const Bounds bounds :
         {Bounds{0, kInfinity}, Bounds{0, 1}, Bounds{-kInfinity, kInfinity}}) {
      SCOPED_TRACE(testing::Message() << at::IntArrayRef(sizes) << " to " << bounds.high);
      const at::Tensor x = drawn(sizes);
      const NormOutcome actual = ours(x, bounds), expected = libtorchs(x, bounds);
      expect_near(actual.y, expected.y, 1e-5);
      expect_near(actual.x_slopes, expected.x_slopes, 1e-5);
      expect_near(actual.weight_slopes, expected.weight_slopes, 1e-5);
      expect_near(actual.bias_slopes, expected.bias_slopes, 1e-5);
      expect_near(actual.running_mean, expected.running_mean, 1e-6);
      expect_near(actual.running_variance, expected.running_variance, 1e-6);
      EXPECT_TRUE(actual.y.is_contiguous(at::MemoryFormat::ChannelsLast));
    }
  }
}

TEST_F(RectifiedNormTest, BitsDoNotDependOnTheNumberOfThreads) {
  const at::Tensor x = drawn({6, 40, 40, 40});
  at::set_num_threads(1);
  const NormOutcome one = ours(x, {0, 6});
  for (const int threads : {2, 3, 7}) {
    at::set_num_threads(threads);
    const NormOutcome several = ours(x, {0, 6});
    EXPECT_TRUE(at::equal(several.y, one.y)) << threads;
    EXPECT_TRUE(at::equal(several.x_slopes, one.x_slopes)) << threads;
    EXPECT_TRUE(at::equal(several.weight_slopes, one.weight_slopes)) << threads;
    EXPECT_TRUE(at::equal(several.running_variance, one.running_variance)) << threads;
  }
}

// Where the mean is a thousand deviations away, one sum of squares would have no digit left.
TEST_F(RectifiedNormTest, LosesLittleFarFromZero) {
  const at::Tensor x = drawn({4, 8, 40, 40}) + 3000;
  const Bounds bounds{-kInfinity, kInfinity};
  expect_near(ours(x, bounds).running_variance, libtorchs(x, bounds).running_variance, 1e-4);
}

TEST_F(RectifiedNormTest, AConstantChannelHasNoVariance) {
  const at::Tensor x = at::full({2, 3, 4, 4}, 0.7F).contiguous(at::MemoryFormat::ChannelsLast);
  const NormOutcome found = ours(x, {0, kInfinity});
  EXPECT_TRUE(found.y.isfinite().all().item<bool>());
  EXPECT_TRUE(found.x_slopes.isfinite().all().item<bool>());
}

TEST_F(RectifiedNormTest, NotANumberIsSeen) {
  at::Tensor x = drawn({2, 32, 4, 4});
  x[0][5][1][1] = std::numeric_limits<float>::quiet_NaN();
  const NormOutcome found = ours(x, {0, 6});
  EXPECT_TRUE(found.y.select(1, 5).isnan().all().item<bool>());
  EXPECT_FALSE(found.y.select(1, 4).isnan().any().item<bool>());
}

TEST_F(RectifiedNormTest, IsForFloatsOnTheCpuWithChannelsLast) {
  const at::Tensor x = drawn({2, 3, 4, 5});
  EXPECT_TRUE(can_rectify_norm(x));
  EXPECT_FALSE(can_rectify_norm(x.contiguous()));
  EXPECT_FALSE(can_rectify_norm(x.to(at::kBFloat16)));
  EXPECT_FALSE(can_rectify_norm(x.slice(0, 0, 0)));
  EXPECT_FALSE(can_rectify_norm(x.to(at::kMeta)));
}

// A layer counts batches and refuses a single value either way.
TEST_F(RectifiedNormTest, ALayerTakesIt) {
  BatchNorm norm(3);
  norm.count_batches();
  const at::Tensor x = drawn({2, 3, 4, 5});
  const at::Tensor y = norm.rectified(x, {.training = true}, {0, 6});
  BatchNorm other(3);
  const at::Tensor expected = kept_between(other(x.contiguous(), {.training = true}), {0, 6});
  expect_near(y.detach(), expected.detach().to(at::kDouble), 1e-5);
  EXPECT_EQ(norm.batches.item<std::int64_t>(), 1);
  EXPECT_ANY_THROW(static_cast<void>(norm.rectified(drawn({1, 3, 1, 1}), {.training = true}, {})));
}

}  // namespace
}  // namespace stoker

#include "stoker/kernels/channel_norm/channel_norm.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "stoker/core/rng.h"
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {

using Values = std::vector<float>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Every version, for all numbers of channels up to four vectors and a few rows.
class ChannelNormEveryVersion : public testing::Test {
 protected:
  ~ChannelNormEveryVersion() override { force_simd("auto"); }

  Values drawn(std::size_t count, double low = -2, double high = 2) {
    Values values(count);
    for (float& value : values) value = static_cast<float>(rng_.uniform(low, high));
    return values;
  }

  template <class Check>
  void for_each_case(Check check) {
    for (const auto& name : available_simd()) {
      force_simd(name);
      for (const std::size_t channels : {1, 2, 3, 8, 15, 16, 17, 24, 32, 33, 64, 65}) {
        for (const std::size_t rows : {1, 3, 4, 5, 11}) {
          SCOPED_TRACE(testing::Message() << name << ", " << rows << " rows of " << channels);
          x_ = drawn(rows * channels);
          slopes_ = drawn(rows * channels);
          scale_ = drawn(channels);
          shift_ = drawn(channels);
          check(ChannelRows{x_.data(), rows, channels});
          if (HasFatalFailure()) return;
        }
      }
    }
  }

  [[nodiscard]] RectifiedLine line(float low = 0, float high = 1) const {
    return {scale_.data(), shift_.data(), low, high};
  }

  Values x_, slopes_, scale_, shift_;

 private:
  Rng rng_{{.seed = 1}, 0};
};

void expect_near(const Values& actual, const Values& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 2e-5) << i;
}

TEST_F(ChannelNormEveryVersion, AddsMomentsToWhatIsThere) {
  for_each_case([&](const ChannelRows& x) {
    const Values pivot = drawn(x.channels), before = drawn(x.channels);
    Values sums = before, squares = before, expected_sums = before, expected_squares = before;
    add_moments(sums.data(), squares.data(), x, pivot.data());
    add_moments_reference(expected_sums.data(), expected_squares.data(), x, pivot.data());
    expect_near(sums, expected_sums);
    expect_near(squares, expected_squares);
    double first = before[0];
    for (std::size_t row = 0; row < x.rows; ++row) first += x_[row * x.channels] - pivot[0];
    ASSERT_NEAR(sums[0], first, 2e-5);
  });
}

TEST_F(ChannelNormEveryVersion, KeepsTheLineBetweenItsBounds) {
  for_each_case([&](const ChannelRows& x) {
    for (const float high : {1.0F, kInfinity}) {
      Values y(x_.size()), expected(x_.size());
      rectify_line(y.data(), x, line(0, high));
      rectify_line_reference(expected.data(), x, line(0, high));
      expect_near(y, expected);
      for (const float value : y) ASSERT_TRUE(value >= 0 && value <= high);
    }
    Values y(x_.size());
    rectify_line(y.data(), x, line(-kInfinity, kInfinity));
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t c = i % x.channels;
      ASSERT_NEAR(y[i], scale_[c] * x_[i] + shift_[c], 2e-6);
    }
  });
}

TEST_F(ChannelNormEveryVersion, AddsSlopesWhereTheLineIsBetweenItsBounds) {
  for_each_case([&](const ChannelRows& x) {
    const Values mean = drawn(x.channels), before = drawn(x.channels);
    Values sums = before, products = before, expected_sums = before, expected_products = before;
    add_slope_sums(sums.data(), products.data(), slopes_.data(), x, line(), mean.data());
    add_slope_sums_reference(expected_sums.data(), expected_products.data(), slopes_.data(), x,
                             line(), mean.data());
    expect_near(sums, expected_sums);
    expect_near(products, expected_products);
  });
}

TEST_F(ChannelNormEveryVersion, GivesSlopesAtTheInputAlsoInPlace) {
  for_each_case([&](const ChannelRows& x) {
    const Values along = drawn(x.channels), across = drawn(x.channels),
                 constant = drawn(x.channels);
    const SlopePlane plane{along.data(), across.data(), constant.data()};
    Values expected(x_.size()), out(x_.size());
    input_slopes_reference(expected.data(), slopes_.data(), x, line(), plane);
    input_slopes(out.data(), slopes_.data(), x, line(), plane);
    expect_near(out, expected);
    input_slopes(slopes_.data(), slopes_.data(), x, line(), plane);
    ASSERT_EQ(slopes_, out);
  });
}

// At a bound the slope is 0, as LibTorch has it.
TEST_F(ChannelNormEveryVersion, BoundsHaveNoSlope) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    const Values ones(32, 1), zeros(32, 0), slopes(32, 5);
    for (const float z : {0.0F, 6.0F, 3.0F}) {
      const Values x(32, z);
      Values sums(32, 0), products(32, 0);
      add_slope_sums(sums.data(), products.data(), slopes.data(), {x.data(), 1, 32},
                     {ones.data(), zeros.data(), 0, 6}, zeros.data());
      EXPECT_EQ(sums, Values(32, z == 3 ? 5 : 0)) << name;
    }
  }
}

// A loss that is not a number must be seen.
TEST_F(ChannelNormEveryVersion, PassesNotANumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto& name : available_simd()) {
    force_simd(name);
    const Values ones(33, 1), zeros(33, 0), x(33, nan);
    Values y(33), slopes(33, 1);
    rectify_line(y.data(), {x.data(), 1, 33}, {ones.data(), zeros.data(), 0, 6});
    for (const float value : y) EXPECT_TRUE(std::isnan(value)) << name;
    input_slopes(slopes.data(), slopes.data(), {x.data(), 1, 33}, {ones.data(), zeros.data(), 0, 6},
                 {zeros.data(), ones.data(), zeros.data()});
    for (const float value : slopes) EXPECT_TRUE(std::isnan(value)) << name;
  }
}

}  // namespace
}  // namespace stoker

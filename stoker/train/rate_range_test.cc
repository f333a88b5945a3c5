#include "stoker/train/rate_range.h"

#include <cmath>

#include <gtest/gtest.h>

#include "stoker/train/test_runs.h"

namespace stoker {
namespace {

TEST(RateRange, FindsTheSteepestPartOfACurve) {
  std::vector<double> rates, losses;
  for (int i = 0; i < 100; ++i) {
    const double log_rate = -5 + 0.05 * i;
    rates.push_back(std::pow(10, log_rate));
    losses.push_back(1 / (1 + std::exp(4 * (log_rate + 2.5))));  // falls fastest at 10^-2.5
  }
  EXPECT_NEAR(std::log10(steepest_rate(rates, losses)), -2.5, 0.1);
}

TEST(RateRange, WhatFallsAfterTheLossRanAwayDoesNotCount) {
  const std::vector<double> losses = {3, 3, 2.9, 2.5, 2, 1.5, 1, 0.9, 1,
                                      2, 5, 9,   12,  6, 5,   4, 4,   3};
  std::vector<double> rates;
  for (std::size_t i = 0; i < losses.size(); ++i) rates.push_back(std::pow(10.0, i) * 1e-6);
  const double rate = steepest_rate(rates, losses);
  EXPECT_GT(rate, rates[2]);
  EXPECT_LT(rate, rates[7]);
}

TEST(RateRange, LeavesTheModelAsItWasAndGivesTheSameAgain) {
  State state = test::new_state("cnn:4,8");
  const State untouched = test::new_state("cnn:4,8");
  const auto once = [&] {
    return try_rates(*state.model, {}, test::made_up_data(), test::small_options(), {.steps = 20});
  };
  const RateRange first = once(), second = once();
  EXPECT_TRUE(test::same(state, untouched));
  EXPECT_EQ(first.losses, second.losses);
  EXPECT_EQ(first.rates.size(), 20U);
}

}  // namespace
}  // namespace stoker

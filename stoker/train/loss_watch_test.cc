#include "stoker/train/loss_watch.h"

#include <cmath>
#include <functional>
#include <limits>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace stoker {
namespace {

constexpr std::uint64_t kSamples = 4, kStepsOfEpoch = 33;

// The step after which a run with these losses ends, looked at as the trainer does; 0: never.
// After `broken_at` steps the numbers go through another object, as in a resumed run.
std::uint64_t diverged_at(const std::function<double(std::uint64_t)>& loss, std::uint64_t steps,
                          std::uint64_t broken_at = 0) {
  LossWatch watch(10);
  at::Tensor sum = at::zeros({}, at::kDouble);
  for (std::uint64_t step = 1; step <= steps; ++step) {
    const bool first = (step - 1) % kStepsOfEpoch == 0;
    if (first) sum.zero_();
    sum.add_(loss(step) * static_cast<double>(kSamples));
    watch.note(sum, kSamples, first);
    if (LossWatch::is_time_to_look(step) || step % kStepsOfEpoch == 0) {
      if (watch.look()) return step;
    }
    if (step == broken_at) {
      LossWatch other(10);
      other.set(watch.numbers());
      watch = other;
    }
  }
  return 0;
}

double falling(std::uint64_t step) { return 2.3 / std::sqrt(static_cast<double>(step)); }

TEST(LossWatch, ALossThatFallsOrStaysIsNoDivergence) {
  EXPECT_EQ(diverged_at(falling, 2000), 0U);
  EXPECT_EQ(diverged_at([](std::uint64_t) { return 2.3; }, 2000), 0U);
}

TEST(LossWatch, ALossThatIsNotFiniteIsSeenWithinTenSteps) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(diverged_at([&](std::uint64_t step) { return step == 61 ? bad : 1.0; }, 200), 66U)
        << "at the end of the epoch, or every ten steps";
    EXPECT_EQ(diverged_at([&](std::uint64_t step) { return step == 1 ? bad : 1.0; }, 200), 10U);
  }
}

// Once in the mean, 1e6 stays above the limit for 200 steps at least.
TEST(LossWatch, ALossThatGrowsTenfoldIsSeenAfterTwoHundredSteps) {
  const auto explodes = [](std::uint64_t step) { return step < 101 ? 1.0 : 1e6; };
  EXPECT_EQ(diverged_at(explodes, 2000), 300U);
  EXPECT_EQ(diverged_at(explodes, 299), 0U);
}

TEST(LossWatch, AnExplosionWithinTheFirstStepsIsSeenToo) {
  EXPECT_EQ(diverged_at([](std::uint64_t step) { return step == 1 ? 2.3 : 4.8e11; }, 2000), 250U);
}

TEST(LossWatch, AShortPeakIsNoDivergence) {
  const auto peak = [](std::uint64_t step) { return step >= 100 && step < 150 ? 40.0 : 1.0; };
  EXPECT_EQ(diverged_at(peak, 2000), 0U);
}

// Of a network that was trained before, fifty steps may have nearly no loss.
TEST(LossWatch, ALossBelowThatOfGuessingIsNoDivergence) {
  EXPECT_EQ(diverged_at([](std::uint64_t step) { return step < 60 ? 1e-4 : 0.5; }, 2000), 0U);
  EXPECT_NE(diverged_at([](std::uint64_t step) { return step < 60 ? 1e-4 : 5.0; }, 2000), 0U);
}

TEST(LossWatch, BrokenOffAnywhereItDecidesTheSame) {
  const auto explodes = [](std::uint64_t step) {
    return step < 70 ? falling(step) : 3.0 * static_cast<double>(step);
  };
  const std::uint64_t whole = diverged_at(explodes, 2000);
  EXPECT_GT(whole, 200U);
  for (std::uint64_t broken_at = 1; broken_at < whole; broken_at += 3) {
    EXPECT_EQ(diverged_at(explodes, 2000, broken_at), whole) << broken_at;
  }
}

}  // namespace
}  // namespace stoker

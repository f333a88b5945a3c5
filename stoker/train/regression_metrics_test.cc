#include "stoker/train/regression_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/rng.h"

namespace stoker {
namespace {

using Values = std::vector<float>;
using Places = std::vector<std::uint64_t>;

const Values kTruth = {1, 2000, 2, 2010, 4, 2020, 9, 2100, -3, 1999, 0.5F, 2001};
const Values kSaid = {1.5F, 2005, 1, 2000, 4.25F, 2030, 7, 2090, -2, 2010, 0.5F, 1990};

Places places(std::size_t count, std::uint64_t first = 0) {
  Places all(count);
  std::iota(all.begin(), all.end(), first);
  return all;
}

RegressionMetrics of_one_target(const Values& said, const Values& truth) {
  RegressionMetrics metrics(1);
  metrics.add(places(truth.size()), said, truth, Values(truth.size()));
  return metrics;
}

// sklearn.metrics 1.9: mean_absolute_error, root_mean_squared_error, r2_score, with
// multioutput="raw_values" and with its default.
TEST(RegressionMetrics, EqualsTheFormulasOfScikitLearn) {
  RegressionMetrics metrics(2);
  metrics.add(places(6), kSaid, kTruth, Values{1, 2, 3, 4, 5, 6});
  const MetricsResult result = metrics.result();
  EXPECT_EQ(result.task, Task::kRegress);
  EXPECT_EQ(result.samples, 6);
  EXPECT_DOUBLE_EQ(result.loss, 3.5);
  EXPECT_DOUBLE_EQ(result.targets[0].mae, 0.7916666666666666);
  EXPECT_DOUBLE_EQ(result.targets[1].mae, 9.5);
  EXPECT_DOUBLE_EQ(result.targets[0].rmse, 1.0257111354242643);
  EXPECT_DOUBLE_EQ(result.targets[1].rmse, 9.72111104761179);
  EXPECT_NEAR(result.targets[0].r2, 0.9219474497681608, 1e-14);
  EXPECT_NEAR(result.targets[1].r2, 0.9262231089521166, 1e-14);
  EXPECT_DOUBLE_EQ(result.mae, 5.145833333333333);
  EXPECT_DOUBLE_EQ(result.rmse, 5.373411091518028);
  EXPECT_NEAR(result.r2, 0.9240852793601386, 1e-14);
  EXPECT_EQ(result.score(), result.r2);
  EXPECT_TRUE(std::isnan(result.top1));
}

TEST(RegressionMetrics, SayingTheMeanHasAnR2OfNought) {
  EXPECT_EQ(of_one_target({2, 2, 2}, {1, 2, 3}).result().r2, 0);
  EXPECT_EQ(of_one_target({1, 2, 3}, {1, 2, 3}).result().r2, 1);
  EXPECT_LT(of_one_target({3, 2, 1}, {1, 2, 3}).result().r2, 0);
}

// The sum of squares minus the square of the sum would lose all digits here.
TEST(RegressionMetrics, ALargeMeanCostsNoDigits) {
  Values truth, said;
  for (int i = 0; i < 1000; ++i) {
    truth.push_back(1e6F + static_cast<float>(i % 2));
    said.push_back(1e6F + 0.5F);
  }
  EXPECT_NEAR(of_one_target(said, truth).result().r2, 0, 1e-9);
}

TEST(RegressionMetrics, AConstantTargetHasNoR2AndDoesNotSpoilTheMean) {
  RegressionMetrics metrics(2);
  metrics.add(places(3), Values{1, 7, 2, 7, 3, 8}, Values{1, 7, 2, 7, 3, 7}, Values(3));
  const MetricsResult result = metrics.result();
  EXPECT_TRUE(std::isnan(result.targets[1].r2));
  EXPECT_EQ(result.r2, 1);
  EXPECT_TRUE(std::isnan(of_one_target({1}, {1}).result().r2)) << "of one sample";
}

TEST(RegressionMetrics, ASampleWithoutAPredictionLeavesNoFigures) {
  for (const float wrong :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const RegressionMetrics metrics = of_one_target({1, wrong, 3}, {1, 2, 3});
    const MetricsResult result = metrics.result();
    EXPECT_EQ(result.without_prediction, 1);
    EXPECT_TRUE(std::isnan(result.mae) && std::isnan(result.rmse) && std::isnan(result.r2));
    EXPECT_EQ(result.score(), -std::numeric_limits<double>::infinity());
    EXPECT_EQ(metrics.pairs().samples, (Places{0, 2}));
  }
  EXPECT_TRUE(std::isnan(RegressionMetrics(1).result().mae));
  EXPECT_TRUE(std::isnan(RegressionMetrics(1).result().loss));
}

TEST(RegressionMetrics, KeepsAllPairsOfAFewSamples) {
  RegressionMetrics metrics(2);
  metrics.add(places(6), kSaid, kTruth, Values(6));
  EXPECT_EQ(metrics.pairs(), (TargetPairs{places(6), kTruth, kSaid}));
}

// Samples whose truth is their index; in batches of `size`, from the first or from the last.
RegressionMetrics of_many(std::uint64_t count, std::uint64_t size, bool backwards) {
  RegressionMetrics metrics(1);
  for (std::uint64_t first = 0; first < count; first += size) {
    Places batch = places(std::min(size, count - first), first);
    if (backwards) {
      for (std::uint64_t& place : batch) place = count - 1 - place;
    }
    const Values truth(batch.begin(), batch.end());
    metrics.add(batch, Values(batch.size(), 1), truth, Values(batch.size()));
  }
  return metrics;
}

TEST(RegressionMetrics, ManySamplesLeaveThePairsOfTheSameOnesInAnyOrder) {
  const TargetPairs pairs = of_many(70'000, 256, false).pairs();
  ASSERT_EQ(pairs.samples.size(), RegressionMetrics::kMaxPairs);
  EXPECT_TRUE(std::ranges::is_sorted(pairs.samples));
  EXPECT_EQ(of_many(70'000, 999, false).pairs(), pairs);
  EXPECT_EQ(of_many(70'000, 256, true).pairs(), pairs);
  // From all over the samples: a seventh of each seventh, 10000 / 7 ± 4 standard deviations.
  for (std::uint64_t part = 0; part < 7; ++part) {
    const auto count = std::ranges::count_if(
        pairs.samples, [&](std::uint64_t sample) { return sample / 10'000 == part; });
    EXPECT_NEAR(static_cast<double>(count), 10'000.0 / 7, 140) << part;
  }
  for (std::size_t i = 0; i < pairs.samples.size(); ++i) {
    ASSERT_EQ(pairs.truth[i], static_cast<float>(pairs.samples[i]));
  }
}

TEST(RegressionMetrics, ManyTargetsShareThePairs) {
  RegressionMetrics metrics(100);
  const Values numbers(100 * 300);
  metrics.add(places(300), numbers, numbers, Values(300));
  EXPECT_EQ(metrics.pairs().truth.size(), RegressionMetrics::kMaxPairs);
}

TEST(RegressionMetrics, BatchesDoNotMatter) {
  Rng rng({.seed = 1}, 0);
  Values truth, said, losses;
  for (int i = 0; i < 200; ++i) {
    truth.push_back(static_cast<float>(rng.uniform()));
    said.push_back(static_cast<float>(rng.uniform()));
    if (i % 2 == 0) losses.push_back(static_cast<float>(rng.uniform()));
  }
  RegressionMetrics whole(2), parts(2);
  whole.add(places(100), said, truth, losses);
  for (std::size_t first = 0; first < 100; first += 7) {
    const std::size_t size = std::min<std::size_t>(7, 100 - first);
    parts.add(places(size, first), std::span(said).subspan(2 * first, 2 * size),
              std::span(truth).subspan(2 * first, 2 * size),
              std::span(losses).subspan(first, size));
  }
  const MetricsResult a = parts.result(), b = whole.result();
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_EQ(a.mae, b.mae);
  EXPECT_EQ(a.rmse, b.rmse);
  EXPECT_EQ(a.r2, b.r2);
}

TEST(RegressionMetrics, RefusesWhatItCannotMeasure) {
  EXPECT_THROW(RegressionMetrics(0), Error);
  EXPECT_THROW(RegressionMetrics(std::int64_t{1} << 40), Error);
  RegressionMetrics metrics(1);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(metrics.add(Places{0, 1}, Values{1, 1}, Values{1, nan}, Values{0, 0}), Error);
  EXPECT_EQ(metrics.result().samples, 0) << "nothing of the batch counts";
  EXPECT_THROW(metrics.add(Places{0}, Values{1, 1}, Values{1, 1}, Values{0, 0}), InvariantError);
}

}  // namespace
}  // namespace stoker

#include "stoker/train/multilabel_metrics.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/rng.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using Scores = std::vector<float>;

Scores over_16(const std::vector<int>& parts) {
  Scores scores;
  for (const int part : parts) scores.push_back(static_cast<float>(part) / 16);
  return scores;
}

// Fourteen samples of four classes, with many equal scores; no sample shows the last class.
const Scores kScores =
    over_16({10, 5,  12, 1, 11, 8, 12, 7,  5, 3,  9,  0,  16, 3, 12, 5, 10, 8,  2,
             6,  15, 15, 7, 1,  6, 11, 11, 3, 11, 8,  11, 6,  9, 7,  0, 0,  10, 11,
             4,  5,  4,  4, 4,  6, 12, 8,  9, 4,  10, 4,  11, 5, 8,  6, 13, 2});
const Scores kShown = {0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0,
                       0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1,
                       0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1, 0};

MultilabelMetrics of_one_class(const Scores& scores, const Scores& shown) {
  MultilabelMetrics metrics(1);
  metrics.add(scores, shown, Scores(scores.size()));
  return metrics;
}

MultilabelMetrics measured() {
  MultilabelMetrics metrics(4);
  metrics.add(kScores, kShown, Scores(14, 0.5F));
  return metrics;
}

void expect_class(const ClassMetrics& found, const ClassMetrics& expected) {
  EXPECT_EQ(found.support, expected.support);
  EXPECT_EQ(found.predicted, expected.predicted);
  EXPECT_DOUBLE_EQ(found.precision, expected.precision);
  EXPECT_DOUBLE_EQ(found.recall, expected.recall);
  EXPECT_DOUBLE_EQ(found.f1, expected.f1);
  EXPECT_DOUBLE_EQ(found.average_precision, expected.average_precision);
  EXPECT_EQ(found.threshold, expected.threshold);
}

// sklearn.metrics 1.9: average_precision_score(y[:, c], s[:, c]),
// precision_recall_fscore_support(y[:, c], s[:, c] >= t, average="binary"),
// f1_score(y, s >= t, average="micro"), f1_score(…, average="macro", zero_division=nan),
// accuracy_score(y, s >= t).
TEST(MultilabelMetrics, EqualsTheFormulasOfScikitLearn) {
  const MetricsResult result = measured().result();
  EXPECT_EQ(result.task, Task::kMultilabel);
  EXPECT_EQ(result.samples, 14);
  EXPECT_DOUBLE_EQ(result.loss, 0.5);
  expect_class(result.classes[0],
               {8, 11, 0.5454545454545454, 0.75, 0.631578947368421, 0.6555826118326118, 0.5});
  expect_class(result.classes[1],
               {3, 7, 0.2857142857142857, 0.6666666666666666, 0.4, 0.6805555555555556, 0.5});
  expect_class(result.classes[2], {9, 9, 0.8888888888888888, 0.8888888888888888, 0.8888888888888888,
                                   0.8443562610229277, 0.5});
  EXPECT_TRUE(std::isnan(result.classes[3].average_precision));
  EXPECT_TRUE(std::isnan(result.classes[3].f1));
  EXPECT_DOUBLE_EQ(result.mean_average_precision, 0.7268314761370317);
  EXPECT_DOUBLE_EQ(result.micro_f1, 0.6808510638297872);
  EXPECT_DOUBLE_EQ(result.macro_f1, 0.6401559454191034);
  EXPECT_DOUBLE_EQ(result.exact_match, 5.0 / 14);
  EXPECT_EQ(result.score(), result.mean_average_precision);
  EXPECT_TRUE(std::isnan(result.top1));
}

TEST(MultilabelMetrics, EveryClassHasItsThreshold) {
  const std::vector<double> thresholds = {0.3, 0.7, 0.55, 0.2};
  const MetricsResult result = measured().result(thresholds);
  expect_class(result.classes[0],
               {8, 13, 0.5384615384615384, 0.875, 0.6666666666666666, 0.6555826118326118, 0.3});
  expect_class(result.classes[1], {3, 1, 1, 0.3333333333333333, 0.5, 0.6805555555555556, 0.7});
  EXPECT_EQ(result.classes[3].f1, 0) << "predicted, but never shown";
  EXPECT_DOUBLE_EQ(result.micro_f1, 0.6274509803921569);
  EXPECT_DOUBLE_EQ(result.macro_f1, 0.5138888888888888);
  EXPECT_DOUBLE_EQ(result.exact_match, 3.0 / 14);
}

TEST(MultilabelMetrics, AScoreEqualToTheThresholdMeansShown) {
  const MultilabelMetrics metrics = of_one_class({0.5F, 0.25F}, {1, 0});
  EXPECT_EQ(metrics.result().classes[0].predicted, 1);
}

// The best of all midpoints by sklearn's f1_score.
TEST(MultilabelMetrics, ChoosesTheThresholdsOfTheGreatestF1) {
  const std::vector<double> thresholds = measured().choose_thresholds();
  EXPECT_THAT(thresholds, ElementsAre(0.125, 0.59375, 0.5, 0.5));
  const MetricsResult result = measured().result(thresholds);
  EXPECT_DOUBLE_EQ(result.classes[0].f1, 0.7272727272727273);
  EXPECT_DOUBLE_EQ(result.classes[1].f1, 0.6666666666666666);
  EXPECT_DOUBLE_EQ(result.classes[2].f1, 0.8888888888888888);
}

TEST(MultilabelMetrics, AmongEqualThresholdsTheNearestToOneHalfWins) {
  // F1 is 2/3 with the first alone and with the first four: at 0.875 and at 0.1875.
  EXPECT_THAT(of_one_class({1, 0.75F, 0.5F, 0.25F, 0.125F}, {1, 0, 0, 1, 0}).choose_thresholds(),
              ElementsAre(0.1875));
  EXPECT_THAT(
      of_one_class({0.75F, 0.25F, 0.2F, 0.1875F, 0.0625F}, {1, 0, 0, 1, 0}).choose_thresholds(),
      ElementsAre(0.5));
  // All scores the same: everything, at half of it.
  EXPECT_THAT(of_one_class({0.25F, 0.25F}, {1, 0}).choose_thresholds(), ElementsAre(0.125));
  EXPECT_THAT(of_one_class({0, 0}, {1, 0}).choose_thresholds(), ElementsAre(0));
}

// A perfect ranking has an average precision of 1, equal scores that of the fraction shown.
TEST(MultilabelMetrics, AveragePrecisionTakesEqualScoresTogether) {
  const auto precision = [](const Scores& scores, const Scores& shown) {
    return of_one_class(scores, shown).result().classes[0].average_precision;
  };
  EXPECT_EQ(precision({0.9F, 0.8F, 0.1F, 0.2F}, {1, 1, 0, 0}), 1);
  EXPECT_EQ(precision({0.5F, 0.5F, 0.5F, 0.5F}, {1, 0, 0, 0}), 0.25);
  EXPECT_EQ(precision({0.5F, 0.5F, 0.5F, 0.5F}, {0, 0, 0, 1}), 0.25);
}

TEST(MultilabelMetrics, ASampleWithoutAPredictionIsWrongEverywhere) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  MultilabelMetrics metrics(2);
  // The second one shows nothing, which would be a match.
  metrics.add(Scores{0.75F, 0.25F, nan, 0.0F, nan, 1.0F}, Scores{1, 0, 0, 0, 0, 1},
              Scores{1, 2, 3});
  const MetricsResult result = metrics.result(std::vector<double>{0, 0});
  EXPECT_EQ(result.without_prediction, 2);
  EXPECT_EQ(result.classes[0].predicted, 1);
  EXPECT_EQ(result.classes[1].predicted, 1);
  EXPECT_EQ(result.classes[1].recall, 0);
  EXPECT_DOUBLE_EQ(result.classes[1].average_precision, 1.0 / 3) << "ranks behind the other";
  EXPECT_EQ(metrics.result().exact_match, 1.0 / 3);
  EXPECT_THAT(metrics.choose_thresholds(), ElementsAre(0.375, 0.5));
}

TEST(MultilabelMetrics, BatchesDoNotMatter) {
  Rng rng({.seed = 1}, 0);
  Scores scores, shown, losses;
  for (int i = 0; i < 300; ++i) {
    scores.push_back(static_cast<float>(rng.uniform()));
    shown.push_back(rng.uniform() < 0.3 ? 1 : 0);
    if (i % 3 == 0) losses.push_back(static_cast<float>(rng.uniform()));
  }
  MultilabelMetrics whole(3, 100), parts(3);
  whole.add(scores, shown, losses);
  for (std::size_t first = 0, size = 1; first < 100; first += size++) {
    size = std::min<std::size_t>(size, 100 - first);
    const auto rows = [&](const Scores& all) {
      return std::span(all).subspan(3 * first, 3 * size);
    };
    parts.add(rows(scores), rows(shown), std::span(losses).subspan(first, size));
  }
  EXPECT_EQ(parts.choose_thresholds(), whole.choose_thresholds());
  const MetricsResult a = parts.result(), b = whole.result();
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_EQ(a.mean_average_precision, b.mean_average_precision);
  EXPECT_EQ(a.macro_f1, b.macro_f1);
}

TEST(MultilabelMetrics, NothingMeasuredIsNaN) {
  const MultilabelMetrics metrics(2);
  const MetricsResult result = metrics.result();
  for (const double value : {result.loss, result.mean_average_precision, result.micro_f1,
                             result.macro_f1, result.exact_match}) {
    EXPECT_TRUE(std::isnan(value));
  }
  EXPECT_THAT(metrics.choose_thresholds(), ElementsAre(0.5, 0.5));
  EXPECT_EQ(result.score(), -std::numeric_limits<double>::infinity());
}

TEST(MultilabelMetrics, RefusesWhatItCannotMeasure) {
  EXPECT_THROW(MultilabelMetrics(0), Error);
  EXPECT_THROW(MultilabelMetrics(1, -1), Error);
  EXPECT_THROW(MultilabelMetrics(1 << 20, 1 << 20), Error);
  MultilabelMetrics metrics(2);
  EXPECT_THROW(metrics.add(Scores{0, 0, 0, 0}, Scores{0, 1, 0.5F, 1}, Scores{0, 0}), Error);
  EXPECT_EQ(metrics.result().samples, 0) << "nothing of the batch counts";
  EXPECT_THROW(metrics.add(Scores{7, -3}, Scores{0, 1}, Scores{0}), InvariantError);
  EXPECT_THROW(metrics.add(Scores{0, 0}, Scores{0, 1}, Scores{0, 0}), InvariantError);
  EXPECT_THROW((void)metrics.result(std::vector<double>{0.5}), InvariantError);
}

}  // namespace
}  // namespace stoker

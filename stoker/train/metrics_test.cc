#include "stoker/train/metrics.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/rng.h"

namespace stoker {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using Labels = std::vector<std::int64_t>;
using Floats = std::vector<float>;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// In 64ths, which floats hold exactly.
Floats over_64(const std::vector<int>& parts) {
  Floats shares;
  for (const int part : parts) shares.push_back(static_cast<float>(part) / 64);
  return shares;
}

MetricsResult measure(const MetricsOptions& options, const Floats& probabilities,
                      const Labels& labels, double loss_sum = 0) {
  Metrics metrics(options);
  metrics.add(probabilities, labels, loss_sum);
  return metrics.result();
}

// Twelve samples of four classes; the last class occurs only as a wrong prediction.
const Floats kProbabilities = over_64(
    {17, 23, 8,  16, 48, 6, 7, 3, 16, 34, 11, 3, 33, 16, 7,  8, 7,  9,  21, 27, 12, 6,  37, 9,
     5,  4,  43, 12, 55, 1, 7, 1, 14, 48, 1,  1, 19, 2,  41, 2, 14, 27, 3,  20, 13, 17, 32, 2});
const Labels kLabels = {1, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 2};

TEST(Metrics, EqualsTheFormulasOfScikitLearn) {
  // sklearn.metrics: confusion_matrix(labels, p.argmax(1)), precision_recall_fscore_support(…),
  // the same with average="macro", top_k_accuracy_score(labels, p, k=2, labels=range(4)).
  const MetricsResult result = measure({.classes = 4, .top_k = 2}, kProbabilities, kLabels, 6.0);
  EXPECT_EQ(result.samples, 12);
  EXPECT_EQ(result.without_prediction, 0);
  EXPECT_DOUBLE_EQ(result.loss, 0.5);
  EXPECT_DOUBLE_EQ(result.top1, 7.0 / 12);
  EXPECT_DOUBLE_EQ(result.top_k, 10.0 / 12);
  EXPECT_THAT(result.confusion, ElementsAre(3, 3, 1, 1, 0, 1, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0));
  const std::vector<ClassMetrics> expected = {{8, 3, 1.0, 0.375, 0.5454545454545454},
                                              {1, 4, 0.25, 1.0, 0.4},
                                              {3, 4, 0.75, 1.0, 0.8571428571428571},
                                              {0, 1, 0.0, 0.0, 0.0}};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(result.classes[i].support, expected[i].support);
    EXPECT_EQ(result.classes[i].predicted, expected[i].predicted);
    EXPECT_DOUBLE_EQ(result.classes[i].precision, expected[i].precision);
    EXPECT_DOUBLE_EQ(result.classes[i].recall, expected[i].recall);
    EXPECT_DOUBLE_EQ(result.classes[i].f1, expected[i].f1);
  }
  EXPECT_DOUBLE_EQ(result.macro_precision, 0.5);
  EXPECT_DOUBLE_EQ(result.macro_recall, 0.59375);
  EXPECT_DOUBLE_EQ(result.macro_f1, 0.45064935064935063);
}

TEST(Metrics, CalibrationErrorEqualsItsDefinition) {
  // For bin b with n_b of n samples: the sum of n_b / n * |mean confidence - share that is right|.
  const MetricsResult result = measure({.classes = 4}, kProbabilities, kLabels);
  EXPECT_DOUBLE_EQ(result.calibration_error, 0.3307291666666667);
}

TEST(Metrics, CalibrationErrorByHand) {
  // Two samples at 0.75, one of them right: 0.25. Two at 1, both right: 0. Half of each.
  const Floats probabilities = {0.75F, 0.25F, 0.75F, 0.25F, 1, 0, 0, 1};
  EXPECT_DOUBLE_EQ(measure({.classes = 2}, probabilities, {0, 1, 0, 1}).calibration_error, 0.125);
}

TEST(Metrics, BinsAreOpenBelowAndClosedAbove) {
  // With two bins 0.5 belongs to the lower one: |0.5 - 0| + |0.75 - 1|, not |1.25 - 1|.
  const Floats probabilities = {0.5F, 0.5F, 0.75F, 0.25F};
  const MetricsOptions options{.classes = 2, .bins = 2};
  EXPECT_DOUBLE_EQ(measure(options, probabilities, {1, 0}).calibration_error, 0.375);
}

TEST(Metrics, EqualProbabilitiesRankInTheOrderOfTheClasses) {
  const Floats same(4 * 4, 0.25F);
  const Labels labels = {0, 1, 2, 3};
  EXPECT_DOUBLE_EQ(measure({.classes = 4, .top_k = 1}, same, labels).top_k, 0.25);
  EXPECT_DOUBLE_EQ(measure({.classes = 4, .top_k = 3}, same, labels).top_k, 0.75);
  const MetricsResult result = measure({.classes = 4, .top_k = 9}, same, labels);
  EXPECT_DOUBLE_EQ(result.top1, 0.25);
  EXPECT_DOUBLE_EQ(result.top_k, 1);
  EXPECT_EQ(result.classes[0].predicted, 4);
}

TEST(Metrics, Top1IsTopKOfOneAndTheDiagonal) {
  Rng rng({.seed = 3}, 0);
  Floats probabilities;
  Labels labels;
  for (int i = 0; i < 500; ++i) {
    labels.push_back(static_cast<std::int64_t>(rng.uniform_int(6)));
    // Few levels, so that many are equal.
    for (int c = 0; c < 6; ++c) {
      probabilities.push_back(static_cast<float>(rng.uniform_int(4)) / 4);
    }
  }
  const MetricsResult result = measure({.classes = 6, .top_k = 1}, probabilities, labels);
  EXPECT_EQ(result.top1, result.top_k);
  std::int64_t diagonal = 0;
  for (std::size_t i = 0; i < 6; ++i) diagonal += result.confusion[i * 7];
  EXPECT_DOUBLE_EQ(result.top1, static_cast<double>(diagonal) / 500);
  EXPECT_GT(diagonal, 0);
}

TEST(Metrics, NotANumberIsNeverRight) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Floats probabilities = {kNaN, kNaN, 0.9F, kNaN, infinity, 0, 0.8F, 0.2F};
  const MetricsResult result = measure({.classes = 2, .top_k = 2}, probabilities, {0, 0, 0, 0});
  EXPECT_EQ(result.samples, 4);
  EXPECT_EQ(result.without_prediction, 3);
  EXPECT_DOUBLE_EQ(result.top1, 0.25);
  EXPECT_DOUBLE_EQ(result.top_k, 0.25);
  EXPECT_DOUBLE_EQ(result.classes[0].recall, 0.25);
  EXPECT_DOUBLE_EQ(result.classes[0].precision, 1);
  EXPECT_THAT(result.confusion, ElementsAre(1, 0, 0, 0));
  EXPECT_NEAR(result.calibration_error, 0.2, 1e-7);
}

TEST(Metrics, NotANumberAsLossStaysVisible) {
  Metrics metrics({.classes = 2});
  metrics.add(Floats{1, 0, 1, 0}, Labels{0, 0}, Floats{0.5F, kNaN});
  metrics.add(Floats{1, 0}, Labels{0}, 0.5);
  EXPECT_TRUE(std::isnan(metrics.result().loss));
}

TEST(Metrics, LossIsTheMeanOverSamplesNotBatches) {
  Metrics metrics({.classes = 2});
  metrics.add(Floats{1, 0, 1, 0, 1, 0}, Labels{0, 0, 0}, Floats{1, 2, 3});
  metrics.add(Floats{1, 0}, Labels{0}, 6.0);
  EXPECT_DOUBLE_EQ(metrics.result().loss, 3.0);
}

TEST(Metrics, AClassThatNeverAppearsIsOmittedFromTheAverages) {
  const MetricsResult result = measure({.classes = 3}, {1, 0, 0, 0, 1, 0}, {0, 1});
  EXPECT_TRUE(std::isnan(result.classes[2].precision));
  EXPECT_TRUE(std::isnan(result.classes[2].recall));
  EXPECT_TRUE(std::isnan(result.classes[2].f1));
  EXPECT_DOUBLE_EQ(result.macro_f1, 1);
}

TEST(Metrics, NothingMeasuredIsNotANumber) {
  Metrics metrics({.classes = 3});
  metrics.add({}, {}, 0.0);
  const MetricsResult result = metrics.result();
  EXPECT_EQ(result.samples, 0);
  for (const double value : {result.loss, result.top1, result.top_k, result.calibration_error,
                             result.macro_precision, result.macro_recall, result.macro_f1}) {
    EXPECT_TRUE(std::isnan(value));
  }
  EXPECT_THAT(result.confusion, Each(0));
}

TEST(Metrics, MergedPartsEqualTheWhole) {
  for (std::size_t cut = 0; cut <= kLabels.size(); ++cut) {
    Metrics left({.classes = 4, .top_k = 2});
    Metrics right = left;
    const std::span<const float> probabilities(kProbabilities);
    const std::span<const std::int64_t> labels(kLabels);
    left.add(probabilities.first(4 * cut), labels.first(cut), 2.0);
    right.add(probabilities.subspan(4 * cut), labels.subspan(cut), 4.0);
    left.merge(right);
    const MetricsResult merged = left.result();
    const MetricsResult whole = measure({.classes = 4, .top_k = 2}, kProbabilities, kLabels, 6.0);
    EXPECT_EQ(merged.samples, whole.samples);
    EXPECT_EQ(merged.confusion, whole.confusion);
    EXPECT_EQ(merged.loss, whole.loss);
    EXPECT_EQ(merged.top1, whole.top1);
    EXPECT_EQ(merged.top_k, whole.top_k);
    EXPECT_EQ(merged.macro_f1, whole.macro_f1);
    EXPECT_DOUBLE_EQ(merged.calibration_error, whole.calibration_error);
  }
}

TEST(Metrics, MergeCountsSamplesWithoutPrediction) {
  Metrics metrics({.classes = 2});
  metrics.add(Floats{kNaN, 1}, Labels{1}, 0.0);
  metrics.merge(Metrics(metrics));
  EXPECT_EQ(metrics.result().without_prediction, 2);
}

TEST(Metrics, MergeRefusesOtherOptions) {
  Metrics metrics({.classes = 3});
  EXPECT_THROW(metrics.merge(Metrics({.classes = 4})), InvariantError);
  EXPECT_THROW(metrics.merge(Metrics({.classes = 3, .top_k = 2})), InvariantError);
  EXPECT_THROW(metrics.merge(Metrics({.classes = 3, .bins = 9})), InvariantError);
}

TEST(Metrics, ManyClassesKeepNoConfusionMatrixButAllElse) {
  constexpr std::int64_t kMany = kMaxConfusionClasses + 1;
  Floats probabilities(2 * kMany, 0);
  probabilities[7] = 1;
  probabilities[kMany + kMany - 1] = 1;
  const MetricsResult result = measure({.classes = kMany}, probabilities, {7, 8});
  EXPECT_TRUE(result.confusion.empty());
  EXPECT_DOUBLE_EQ(result.classes[7].f1, 1);
  EXPECT_EQ(result.classes[kMany - 1].predicted, 1);
}

TEST(Metrics, ALabelThatIsNoClassIsAnErrorAndCountsNothing) {
  Metrics metrics({.classes = 2});
  for (const std::int64_t label : {std::int64_t{2}, std::int64_t{-1}}) {
    try {
      metrics.add(Floats{1, 0, 1, 0}, Labels{0, label}, 1.0);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("Expected 0 to 1, got " + std::to_string(label)));
    }
  }
  EXPECT_EQ(metrics.result().samples, 0);
}

TEST(Metrics, RefusesLogitsAndSpansOfOtherLengths) {
  Metrics metrics({.classes = 2});
  EXPECT_THROW(metrics.add(Floats{5, -3}, Labels{0}, 0.0), InvariantError);
  EXPECT_THROW(metrics.add(Floats{1, 0, 1}, Labels{0}, 0.0), InvariantError);
  EXPECT_THROW(metrics.add(Floats{1, 0}, Labels{0}, Floats{1, 2}), InvariantError);
}

TEST(Metrics, RefusesOptionsOutOfRange) {
  EXPECT_THROW(Metrics({.classes = 0}), Error);
  EXPECT_THROW(Metrics({.classes = kMaxClasses + 1}), Error);
  EXPECT_THROW(Metrics({.classes = 2, .top_k = 0}), Error);
  EXPECT_THROW(Metrics({.classes = 2, .bins = 0}), Error);
  EXPECT_THROW(Metrics({.classes = 2, .bins = 1 << 30}), Error);
}

}  // namespace
}  // namespace stoker

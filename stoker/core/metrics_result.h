// What an evaluation and an epoch found, as plain numbers. Training makes them (train/metrics.h,
// train/observer.h); the list of metrics (metric_list.h) names and formats them.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "stoker/core/task.h"

namespace stoker {

inline constexpr double kNotDefined = std::numeric_limits<double>::quiet_NaN();

// Where a class neither occurs nor is predicted, all three are NaN and the macro averages leave it
// out; else what would be 0 / 0 is 0. So scikit-learn has it by default.
struct ClassMetrics {
  std::int64_t support = 0;    // samples of this class
  std::int64_t predicted = 0;  // samples taken for this class
  double precision = 0;
  double recall = 0;
  double f1 = 0;
  // Of kMultilabel alone.
  double average_precision = kNotDefined;  // NaN where no sample shows the class
  double threshold = kNotDefined;          // a probability from here on up means "shows it"
};

// Of one target, in its own unit; the targets' names stand in their order in the model.
struct TargetMetrics {
  double mae = kNotDefined;   // mean absolute error
  double rmse = kNotDefined;  // square root of the mean squared error
  double r2 = kNotDefined;    // 1 - squared error / squared distance from the mean of the truth
};

// Shares are in [0, 1]; all numbers are NaN where there was no sample, and those of another task
// are NaN too, or empty.
struct MetricsResult {
  Task task = Task::kClassify;
  std::int64_t samples = 0;
  std::int64_t skipped = 0;             // could not be made: in no figure
  std::int64_t without_prediction = 0;  // a probability was NaN or infinite
  double loss = 0;                      // mean
  double top1 = 0;
  double top_k = 0;
  double calibration_error = 0;  // over the samples with a prediction
  double macro_precision = 0;
  double macro_recall = 0;
  double macro_f1 = 0;
  std::vector<ClassMetrics> classes = {};
  // Samples of class i taken for class j, at i * classes + j. Empty above kMaxConfusionClasses
  // (train/metrics.h).
  std::vector<std::int64_t> confusion = {};

  // Of kMultilabel, beside macro_* and classes. mAP is the mean over the classes that a sample
  // shows; micro F1 counts every pair of sample and class alike; exact match is the fraction of
  // samples whose classes are all correct.
  double mean_average_precision = kNotDefined;
  double micro_f1 = kNotDefined;
  double exact_match = kNotDefined;

  // Of kRegress: means over the targets, as scikit-learn averages them, and each target.
  double mae = kNotDefined;
  double rmse = kNotDefined;
  double r2 = kNotDefined;
  std::vector<TargetMetrics> targets = {};

  // By which the best epoch is chosen: top-1, mAP or R². Minus infinity where that is not defined,
  // so that any epoch that has one is better.
  [[nodiscard]] double score() const noexcept {
    const double found = task == Task::kClassify     ? top1
                         : task == Task::kMultilabel ? mean_average_precision
                                                     : r2;
    return std::isnan(found) ? -std::numeric_limits<double>::infinity() : found;
  }
};

// Of one epoch of a training run.
struct EpochNumbers {
  std::uint32_t epoch = 0;  // counted from 0
  std::uint64_t step = 0;   // steps of the optimiser since the run began
  double rate = 0;          // of the epoch's last step
  double train_loss = 0;
  double train_top1 = 0;  // of kClassify alone; no other task has a score of its training samples
  MetricsResult validation = {};
  // Of the training phase; what a resumed run did before does not count.
  double seconds = 0, samples_per_second = 0, wait_share = 0;
  double validation_seconds = 0;
};

}  // namespace stoker

// What an evaluation and an epoch found, as plain numbers. Training makes them (train/metrics.h,
// train/observer.h); the list of metrics (metric_list.h) names and formats them.
#pragma once

#include <cstdint>
#include <vector>

namespace stoker {

// Where a class neither occurs nor is predicted, all three are NaN and the macro averages leave it
// out; else what would be 0 / 0 is 0. So scikit-learn has it by default.
struct ClassMetrics {
  std::int64_t support = 0;    // samples of this class
  std::int64_t predicted = 0;  // samples taken for this class
  double precision = 0;
  double recall = 0;
  double f1 = 0;
};

// Shares are in [0, 1]; all numbers are NaN where there was no sample.
struct MetricsResult {
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
};

// Of one epoch of a training run.
struct EpochNumbers {
  std::uint32_t epoch = 0;  // counted from 0
  std::uint64_t step = 0;   // steps of the optimiser since the run began
  double rate = 0;          // of the epoch's last step
  double train_loss = 0, train_top1 = 0;
  MetricsResult validation = {};
  // Of the training phase; what a resumed run did before does not count.
  double seconds = 0, samples_per_second = 0, wait_share = 0;
  double validation_seconds = 0;
};

}  // namespace stoker

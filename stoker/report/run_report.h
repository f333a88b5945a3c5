// All that a report says of a training run, as plain values: `stoker report` reads them from the
// run's folder, and the pages are drawn from them. Any part may be missing, since a run may be old,
// unfinished or copied in part; text is as it stood in a file, so whoever draws it escapes it.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "stoker/core/metrics_result.h"

namespace stoker {

// A CSV file of numbers, by column; NaN where a field was none.
struct NumberTable {
  std::vector<std::string> columns = {};
  std::vector<std::vector<double>> values = {};  // as many as columns, all of the same length

  [[nodiscard]] std::size_t rows() const noexcept { return values.empty() ? 0 : values[0].size(); }
  // nullptr where there is none of that name.
  [[nodiscard]] const std::vector<double>* find(const std::string& column) const noexcept {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] == column) return &values[i];
    }
    return nullptr;
  }
};

// An image as a browser takes it.
struct ReportImage {
  std::string type = {};  // "png" or "webp"
  std::string data = {};  // base64
  int width = 0, height = 0;
};

// A validation image and what the network took it for. Classes are indices of class_names. Tasks
// whose answer is not one class have both as text instead: "cat 98 %, dog 71 %", "12.5".
struct ReportPrediction {
  ReportImage image = {};
  std::string sample = {};
  std::int64_t label = -1;
  std::int64_t first = 0, second = 0;  // the two most probable classes
  double first_share = 0, second_share = 0, loss = 0;
  std::string truth_text = {}, prediction_text = {};
};

struct ReportPair {
  std::int64_t label = 0;
  ReportImage before = {}, after = {};
  std::string label_text = {};  // instead of the label, where the task has no such thing
};

// Samples of a regression: both at sample * targets + target. A selection where there are many.
struct ReportNumbers {
  std::vector<float> truth = {}, predicted = {};
};

// Of the samples that were judged with a confidence in one tenth.
struct CalibrationBin {
  std::int64_t samples = 0;
  double confidence = 0, accuracy = 0;  // means; 0 where there is no sample
};

struct FeedFacts {
  double store = 0;  // fraction of the workers' time spent fetching; NaN: not known
  double read = 0, augment = 0, write = 0, blocked = 0;  // likewise
  double ring_batches = 0;
  std::vector<double> ring_fill = {};  // finished batches, over the run
  [[nodiscard]] bool known() const noexcept { return ring_batches > 0; }
};

// The test at the end of a run, with the weights of its best epoch; NaN: there was none.
struct TestFacts {
  double top1 = kNotDefined;
  double loss = kNotDefined;
  std::int64_t samples = 0, epoch = 0;  // epoch counted from 1
  double map = kNotDefined;             // of kMultilabel
  double r2 = kNotDefined;              // of kRegress

  [[nodiscard]] double score(Task task) const noexcept {
    return task == Task::kClassify ? top1 : task == Task::kMultilabel ? map : r2;
  }
  [[nodiscard]] bool known(Task task = Task::kClassify) const noexcept {
    return std::isfinite(score(task));
  }
};

using NamedValues = std::vector<std::pair<std::string, std::string>>;

struct RunReport {
  std::string name = {}, folder = {}, state = {};
  Task task = Task::kClassify;
  std::string data = {}, model = {}, augmentation = {};
  std::vector<std::string> warnings = {};  // sentences that a reader must not miss
  NamedValues settings = {};               // of args.yaml, in its order
  // Data, machine, versions, digests, each with a title.
  std::vector<std::pair<std::string, NamedValues>> facts = {};
  std::vector<std::string> class_names = {};          // of kRegress: the targets' names
  NumberTable results = {}, steps = {}, timing = {};  // results.csv, steps.csv, timing.csv
  NumberTable ranks = {};                             // ranks.csv
  FeedFacts feed = {};
  TestFacts test = {};
  double epoch_samples = 0;  // training samples an epoch; 0: not known

  // Of the last validation.
  std::uint32_t judged_epoch = 0;            // counted from 1; 0: there was none
  std::vector<std::int64_t> confusion = {};  // at true * classes + predicted
  std::vector<ClassMetrics> classes = {};    // of kMultilabel, one for each class
  std::vector<TargetMetrics> targets = {};   // of kRegress, one for each target
  ReportNumbers numbers = {};                // of kRegress
  std::vector<CalibrationBin> calibration = {};
  std::vector<ReportPrediction> top_losses = {}, doubtful = {};
  std::vector<ReportPair> batch = {};

  [[nodiscard]] std::string class_name(std::int64_t index) const {
    const bool known = index >= 0 && static_cast<std::size_t>(index) < class_names.size();
    return known ? class_names[static_cast<std::size_t>(index)] : "?";
  }
};

}  // namespace stoker

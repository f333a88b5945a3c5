// One row of text for each prediction, as `stoker predict` writes it: a table (CSV), JSON lines, or
// the two columns that competitions take. Plain values; not shared between threads.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "stoker/core/task.h"

namespace stoker {

// What was predicted for one sample.
struct Prediction {
  // Sorts the classes.
  Prediction(std::string sample_name, std::span<const float> class_probabilities);

  std::string sample;
  std::vector<std::size_t> ranked;       // classes, the most probable first; of equals the first
  std::span<const float> probabilities;  // of each class, in the model's order

  [[nodiscard]] float best() const { return probabilities[ranked.front()]; }
};

enum class RowFormat { kCsv, kJsonLines, kSubmission };
// How a submission names an image: "0001" (stem), "0001.jpg" (name) or "test/0001.jpg" (path).
enum class SubmissionId { kStem, kName, kPath };

// What a model's outputs are.
struct RowOutputs {
  std::vector<std::string> names;  // of classes or targets
  Task task = Task::kClassify;
  std::vector<double> thresholds = {};  // of kMultilabel, one for each class; empty: 0.5
};

struct RowOptions {
  RowFormat format = RowFormat::kCsv;
  // Number of classes in a row, the most probable first; 0: all classes, in the model's order. Not
  // of submissions.
  std::size_t top_k = 0;
  SubmissionId id = SubmissionId::kStem;
  // Of submissions: the label is the probability of this class. Empty: the name of the chosen one.
  std::string positive = {};
};

class PredictionRows {
 public:
  // Throws Error where the options do not fit each other, the classes or the task.
  PredictionRows(RowOutputs outputs, const RowOptions& options);

  // The first line, with its end; empty where the format has none.
  [[nodiscard]] std::string header() const;
  // With its end. Throws Error where a submission would have the same id twice.
  [[nodiscard]] std::string row(const Prediction& prediction);
  // The row of a sample that could not be read: without class and probabilities.
  [[nodiscard]] std::string error_row(const std::string& sample, const std::string& reason);

 private:
  [[nodiscard]] std::string json_row(const Prediction& prediction) const;
  [[nodiscard]] std::string submission_row(const std::string& sample, const std::string& label);
  [[nodiscard]] std::string submission_label(const Prediction& prediction) const;
  // Names of the classes at or above their thresholds.
  [[nodiscard]] std::vector<std::string> shown_classes(const Prediction& prediction) const;
  [[nodiscard]] std::string first_columns(const Prediction& prediction) const;

  RowOutputs outputs_;
  RowOptions options_;
  std::size_t positive_ = 0;        // where there is one
  std::set<std::string> ids_ = {};  // of a submission, so far
};

// Quoted where a comma, a quote or a line break would end the field.
[[nodiscard]] std::string csv_field(const std::string& text);

}  // namespace stoker

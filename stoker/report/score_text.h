// What reports call the number by which a task's epochs are compared, and the others that matter.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/core/metric_list.h"
#include "stoker/report/run_report.h"

namespace stoker {

struct ScoreText {
  std::string name;    // "top1"
  std::string label;   // "top-1"
  std::string title;   // "Top-1 accuracy"
  std::string column;  // of results.csv
  bool percent = true;

  [[nodiscard]] std::string value(double number) const;  // "93.12 %" or "0.9312"
  // ", %" behind a column's name and " in per cent" behind a plot's title, where they are.
  [[nodiscard]] const char* unit() const { return percent ? ", %" : ""; }
  [[nodiscard]] const char* unit_words() const { return percent ? " in per cent" : ""; }
  [[nodiscard]] double scale() const { return percent ? 100 : 1; }
};
[[nodiscard]] ScoreText score_text(Task task);
// "0.8000"; "–" for NaN.
[[nodiscard]] std::string unit_text(double value);

// Of the task's metrics those of a summary besides score and loss: none, micro F1, or MAE and RMSE.
[[nodiscard]] std::vector<const Metric*> more_metrics(Task task);
// Such a metric at one epoch; NaN where it is not there.
[[nodiscard]] double metric_at(const RunReport& run, const Metric& metric, std::size_t row);

// R² may begin far below 0, where the rest of its curve would be flat: 0 if it came above 0 later.
[[nodiscard]] std::optional<double> score_floor(const RunReport& run);
// Of several runs in one chart.
[[nodiscard]] std::optional<double> score_floor(std::span<const RunReport> runs);

}  // namespace stoker

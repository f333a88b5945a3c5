// The sections of a run's page, in the order in which they stand there. Each is empty where the run
// does not have what it shows.
#pragma once

#include <string>
#include <vector>

#include "stoker/report/run_report.h"

namespace stoker::detail {

[[nodiscard]] std::string curves_section(const RunReport& run);
[[nodiscard]] std::string classes_section(const RunReport& run);
[[nodiscard]] std::string labels_section(const RunReport& run);   // instead, of kMultilabel
[[nodiscard]] std::string targets_section(const RunReport& run);  // instead, of kRegress
[[nodiscard]] std::string calibration_section(const RunReport& run);
[[nodiscard]] std::string losses_section(const RunReport& run);
[[nodiscard]] std::string doubts_section(const RunReport& run);
[[nodiscard]] std::string batch_section(const RunReport& run);
[[nodiscard]] std::string time_section(const RunReport& run);
[[nodiscard]] std::string ranks_section(const RunReport& run);
[[nodiscard]] std::string settings_section(const RunReport& run);
[[nodiscard]] std::string facts_section(const RunReport& run);

// Truth and predictions of one target, at most this many spread over all samples, and the ends of
// the line on which both are equal. Empty where there are none.
struct TargetPoints {
  std::vector<double> truth = {}, predicted = {}, ends = {};
};
[[nodiscard]] TargetPoints target_points(const RunReport& run, std::size_t target,
                                         std::size_t most);

// The last finite value of a column of results.csv; NaN where there is none.
[[nodiscard]] double last_of(const NumberTable& table, const std::string& column);
// The greatest, with the row; row is rows() where there is none.
struct BestRow {
  double value;
  std::size_t row;
};
[[nodiscard]] BestRow best_of(const NumberTable& table, const std::string& column);
// What ranks.csv says, a row an epoch as text; the first row holds the columns' names. Empty for a
// run of one process.
[[nodiscard]] std::vector<std::vector<std::string>> ranks_rows(const RunReport& run);
// Of the training phases together, and of making features that were kept. Of an epoch that was
// broken off and resumed only a part was timed, so its time is that of all its samples at the speed
// that was measured.
[[nodiscard]] double training_seconds(const RunReport& run);
// Making features that were kept; 0 where none were.
[[nodiscard]] double features_seconds(const RunReport& run);
// Samples a second over all epochs, and the fraction of the time in which training waited for data.
[[nodiscard]] double training_speed(const RunReport& run);
[[nodiscard]] double waiting_share(const RunReport& run);

}  // namespace stoker::detail

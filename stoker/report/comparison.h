// How several runs differ: in which settings, and in what came out. Runs that differ in nothing but
// the seed or the fold are repeats of each other and make one group. Plain values; cost: runs times
// settings.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/report/axis.h"
#include "stoker/report/run_report.h"

namespace stoker {

struct RunOutcome {
  // By MetricsResult::score(): top-1, mAP or R² of the validation, and of the test at the end,
  // which is NaN where there was none.
  double best_score = 0, last_score = 0, test_score = 0;
  double last_loss = 0;  // of the validation
  double seconds = 0, samples_per_second = 0, wait_share = 0;
  std::vector<double> more = {};  // other figures of the best epoch: more_metrics()
};
[[nodiscard]] RunOutcome outcome_of(const RunReport& run);

struct Spread {
  double mean = 0, least = 0, greatest = 0, deviation = 0;  // of the sample; 0 for one value
};
// Of the finite ones; NaN where there are none.
[[nodiscard]] Spread spread_of(std::span<const double> values);

struct RunGroup {
  std::string name = {};                 // "workers=2, aa=mnist"
  std::vector<std::string> values = {};  // as many as Comparison::settings
  std::vector<std::size_t> runs = {};    // indices
};

// Values of the plot's x axis, and the groups that make one line.
struct ComparisonAxis {
  std::size_t setting = 0;  // of Comparison::settings
  bool numeric = false;
  AxisScale scale = AxisScale::kLinear;
  std::vector<std::string> names = {};  // of values that are no numbers
  struct Line {
    std::string name = {};
    std::vector<double> x = {};            // the number, or the place in `names`
    std::vector<std::size_t> groups = {};  // as many
  };
  std::vector<Line> lines = {};
};

struct Comparison {
  Task task = Task::kClassify;             // of the first run; the others' scores are NaN elsewhere
  std::vector<std::string> settings = {};  // that are not the same in all runs
  std::vector<RunGroup> groups = {};       // in the order of their first runs
  std::vector<RunOutcome> outcomes = {};   // of each run
  // The setting with the most values, numbers first; none where no setting differs.
  std::optional<ComparisonAxis> axis = {};
};

[[nodiscard]] Comparison compare_runs(std::span<const RunReport> runs);

// Of the runs of a group, one number each.
template <typename Member>
[[nodiscard]] Spread group_spread(const Comparison& comparison, const RunGroup& group,
                                  Member member) {
  std::vector<double> values;
  for (const std::size_t run : group.runs) values.push_back(comparison.outcomes[run].*member);
  return spread_of(values);
}

// The same of RunOutcome::more.
[[nodiscard]] Spread more_spread(const Comparison& comparison, const RunGroup& group,
                                 std::size_t which);

}  // namespace stoker

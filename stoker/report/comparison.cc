#include "stoker/report/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/metric_list.h"
#include "stoker/report/detail/run_sections.h"
#include "stoker/report/score_text.h"

namespace stoker {
namespace {

// What a run is called and where it lies tells nothing of what it does; seeds make repeats.
const std::set<std::string>& passed_over() {
  static const std::set<std::string> names = {
      "output",   "experiment", "checkpoint-every", "keep", "tensorboard", "histograms",
      "log-json", "no-report",  "recipe",           "seed", "max-errors",  "fold"};
  return names;
}

std::string value_of(const RunReport& run, const std::string& setting) {
  for (const auto& [name, value] : run.settings) {
    if (name == setting) return value;
  }
  return "";
}

std::vector<std::string> differing_settings(std::span<const RunReport> runs) {
  std::vector<std::string> all;
  for (const RunReport& run : runs) {
    for (const auto& [name, value] : run.settings) {
      if (!passed_over().contains(name) && std::ranges::find(all, name) == all.end()) {
        all.push_back(name);
      }
    }
  }
  std::erase_if(all, [&](const std::string& name) {
    const std::string first = value_of(runs.front(), name);
    return std::ranges::all_of(runs, [&](const auto& run) { return value_of(run, name) == first; });
  });
  return all;
}

std::string group_name(const std::vector<std::string>& settings,
                       const std::vector<std::string>& values) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    parts.push_back(fmt::format("{}={}", settings[i], values[i].empty() ? "–" : values[i]));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// All runs are folds, each another one.
bool are_folds(std::span<const RunReport> runs) {
  std::set<std::string> folds;
  for (const RunReport& run : runs) {
    const std::string fold = value_of(run, "fold");
    if (fold.empty() || fold == "-1" || !folds.insert(fold).second) return false;
  }
  return true;
}

std::string fold_name(std::span<const RunReport> runs) {
  return fmt::format("{} of {} folds", runs.size(), value_of(runs.front(), "folds"));
}

std::vector<RunGroup> groups_of(std::span<const RunReport> runs,
                                const std::vector<std::string>& settings) {
  std::vector<RunGroup> groups;
  const bool folds = settings.empty() && are_folds(runs);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    std::vector<std::string> values;
    for (const std::string& setting : settings) values.push_back(value_of(runs[r], setting));
    auto group = std::ranges::find(groups, values, &RunGroup::values);
    // Where no setting differs, each run stands for itself, unless all are folds of one division.
    const bool apart = settings.empty() && !folds;
    if (apart || group == groups.end()) {
      std::string name = group_name(settings, values);
      if (apart) name = runs[r].name;
      if (folds) name = fold_name(runs);
      group = groups.insert(groups.end(), {.name = name, .values = values, .runs = {}});
    }
    group->runs.push_back(r);
  }
  return groups;
}

std::optional<double> as_number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool whole = !text.empty() && end == text.c_str() + text.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::vector<std::string> distinct_values(const std::vector<RunGroup>& groups, std::size_t setting) {
  std::vector<std::string> values;
  for (const RunGroup& group : groups) {
    if (std::ranges::find(values, group.values[setting]) == values.end()) {
      values.push_back(group.values[setting]);
    }
  }
  return values;
}

bool all_numbers(const std::vector<std::string>& values) {
  return std::ranges::all_of(values, [](const auto& v) { return as_number(v).has_value(); });
}

// 1, 2, 4, 8: equally far apart.
bool are_powers_of_two(const std::vector<std::string>& values) {
  return values.size() > 2 && std::ranges::all_of(values, [](const std::string& text) {
           const double exponent = std::log2(as_number(text).value_or(-1));
           return std::isfinite(exponent) && exponent == std::floor(exponent);
         });
}

std::size_t axis_setting(const Comparison& comparison) {
  std::size_t best = 0, best_rank = 0;
  for (std::size_t s = 0; s < comparison.settings.size(); ++s) {
    const auto values = distinct_values(comparison.groups, s);
    // Any numbers go before any words.
    const std::size_t rank = values.size() + (all_numbers(values) ? comparison.groups.size() : 0);
    if (rank > best_rank) {
      best = s;
      best_rank = rank;
    }
  }
  return best;
}

void sort_points(ComparisonAxis::Line& line) {
  std::vector<std::pair<double, std::size_t>> points;
  for (std::size_t i = 0; i < line.x.size(); ++i) points.emplace_back(line.x[i], line.groups[i]);
  std::ranges::stable_sort(points, {}, &std::pair<double, std::size_t>::first);
  for (std::size_t i = 0; i < points.size(); ++i) {
    line.x[i] = points[i].first;
    line.groups[i] = points[i].second;
  }
}

// The other settings of a group, which name its line.
std::string line_name(const Comparison& comparison, const RunGroup& group, std::size_t axis) {
  std::vector<std::string> settings = comparison.settings, values = group.values;
  settings.erase(settings.begin() + static_cast<std::ptrdiff_t>(axis));
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(axis));
  return group_name(settings, values);
}

ComparisonAxis axis_of(const Comparison& comparison) {
  ComparisonAxis axis{.setting = axis_setting(comparison)};
  const auto values = distinct_values(comparison.groups, axis.setting);
  axis.numeric = all_numbers(values);
  if (!axis.numeric) axis.names = values;
  if (axis.numeric && are_powers_of_two(values)) axis.scale = AxisScale::kLog2;
  for (std::size_t g = 0; g < comparison.groups.size(); ++g) {
    const RunGroup& group = comparison.groups[g];
    const std::string name = line_name(comparison, group, axis.setting);
    auto line = std::ranges::find(axis.lines, name, &ComparisonAxis::Line::name);
    if (line == axis.lines.end()) {
      line = axis.lines.insert(line, {.name = name, .x = {}, .groups = {}});
    }
    const std::string& value = group.values[axis.setting];
    const auto place = std::ranges::find(values, value) - values.begin();
    line->x.push_back(axis.numeric ? *as_number(value) : static_cast<double>(place));
    line->groups.push_back(g);
  }
  for (ComparisonAxis::Line& line : axis.lines) sort_points(line);
  return axis;
}

}  // namespace

namespace {

// As a run of this task: NaN where it is one of another.
RunOutcome outcome_as(const RunReport& run, Task task) {
  const detail::BestRow best = detail::best_of(run.results, score_column(task));
  RunOutcome outcome{.best_score = best.value,
                     .last_score = detail::last_of(run.results, score_column(task)),
                     .test_score = run.test.score(task),
                     .last_loss = detail::last_of(run.results, column_name::kValLoss),
                     .seconds = detail::training_seconds(run),
                     .samples_per_second = detail::training_speed(run),
                     .wait_share = detail::waiting_share(run)};
  for (const Metric* one : more_metrics(task)) {
    outcome.more.push_back(metric_at(run, *one, best.row));
  }
  return outcome;
}

}  // namespace

RunOutcome outcome_of(const RunReport& run) { return outcome_as(run, run.task); }

Spread more_spread(const Comparison& comparison, const RunGroup& group, std::size_t which) {
  std::vector<double> values;
  for (const std::size_t run : group.runs) values.push_back(comparison.outcomes[run].more[which]);
  return spread_of(values);
}

Spread spread_of(std::span<const double> values) {
  double sum = 0, count = 0;
  Spread spread{.least = INFINITY, .greatest = -INFINITY};
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    sum += value;
    count += 1;
    spread.least = std::min(spread.least, value);
    spread.greatest = std::max(spread.greatest, value);
  }
  if (count == 0) return {std::nan(""), std::nan(""), std::nan(""), std::nan("")};
  spread.mean = sum / count;
  double squares = 0;
  for (const double value : values) {
    if (std::isfinite(value)) squares += (value - spread.mean) * (value - spread.mean);
  }
  spread.deviation = count > 1 ? std::sqrt(squares / (count - 1)) : 0;
  return spread;
}

Comparison compare_runs(std::span<const RunReport> runs) {
  Comparison comparison{.task = runs.front().task, .settings = differing_settings(runs)};
  comparison.groups = groups_of(runs, comparison.settings);
  for (const RunReport& run : runs) {
    comparison.outcomes.push_back(outcome_as(run, comparison.task));
  }
  if (!comparison.settings.empty()) comparison.axis = axis_of(comparison);
  return comparison;
}

}  // namespace stoker

#include "stoker/report/score_text.h"

#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "stoker/report/detail/run_sections.h"
#include "stoker/report/html_page.h"

namespace stoker {

std::string ScoreText::value(double number) const {
  return percent ? percent_text(number) : unit_text(number);
}

ScoreText score_text(Task task) {
  const Metric& metric = score_metric(task);
  return {.name = metric.name,
          .label = metric.label,
          .title = task == Task::kClassify ? "Top-1 accuracy" : metric.label,
          .column = score_column(task),
          .percent = metric.style == NumberStyle::kPercent};
}

std::string unit_text(double value) {
  return std::isfinite(value) ? fmt::format("{:.4f}", value) : "–";
}

std::vector<const Metric*> more_metrics(Task task) {
  std::vector<const Metric*> more;
  for (const Metric& one : metric_list(task)) {
    const bool known = one.name == std::string_view(metric_name::kLoss) ||
                       one.name == std::string_view(score_metric(task).name);
    if (one.in_summary && !known) more.push_back(&one);
  }
  return more;
}

double metric_at(const RunReport& run, const Metric& metric, std::size_t row) {
  const std::vector<double>* values = run.results.find(fmt::format("val_{}", metric.name));
  return values != nullptr && row < values->size() ? (*values)[row] : std::nan("");
}

std::optional<double> score_floor(const RunReport& run) {
  if (run.task != Task::kRegress) return {};
  return detail::best_of(run.results, score_column(run.task)).value > 0 ? std::optional(0.0)
                                                                        : std::nullopt;
}

std::optional<double> score_floor(std::span<const RunReport> runs) {
  for (const RunReport& run : runs) {
    if (const auto floor = score_floor(run)) return floor;
  }
  return {};
}

}  // namespace stoker

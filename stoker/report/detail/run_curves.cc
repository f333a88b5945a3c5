// Curves over epochs, and the table of the same numbers.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stoker/core/metric_list.h"
#include "stoker/report/detail/run_sections.h"
#include "stoker/report/html_page.h"
#include "stoker/report/score_text.h"
#include "stoker/report/svg_chart.h"

namespace stoker::detail {
namespace {

// Steps as parts of epochs: the last step of epoch e is e.
std::vector<double> steps_as_epochs(const RunReport& run) {
  const std::vector<double>* step = run.steps.find("step");
  const std::vector<double>* epoch = run.steps.find("epoch");
  const std::vector<double>* ends = run.results.find(column_name::kStep);
  std::vector<double> x;
  if (step == nullptr || epoch == nullptr || ends == nullptr) return x;
  for (std::size_t i = 0; i < step->size(); ++i) {
    const double number = (*epoch)[i];
    const bool known = number >= 1 && number <= static_cast<double>(ends->size());
    const auto row = known ? static_cast<std::size_t>(number) - 1 : 0;
    const double begin = known && row > 0 ? (*ends)[row - 1] : 0;
    const double length = known ? (*ends)[row] - begin : 0;
    x.push_back(length > 0 ? number - 1 + ((*step)[i] - begin) / length : std::nan(""));
  }
  return x;
}

void add_series(std::vector<ChartSeries>& list, const NumberTable& table, const std::string& column,
                const std::vector<double>& x, ChartSeries style) {
  const std::vector<double>* y = table.find(column);
  if (y == nullptr || x.size() != y->size()) return;
  style.x = x;
  style.y = *y;
  list.push_back(std::move(style));
}

std::string chart(const RunReport& run, const char* train, const std::string& validation,
                  const char* step, const ChartOptions& options) {
  std::vector<ChartSeries> series;
  const std::vector<double>* epoch = run.results.find(column_name::kEpoch);
  const std::vector<double> x = epoch == nullptr ? std::vector<double>() : *epoch;
  add_series(series, run.steps, step, steps_as_epochs(run),
             {.name = "training, steps", .colour = 0, .faint = true});
  add_series(series, run.results, train, x, {.name = "training", .colour = 0, .dots = true});
  add_series(series, run.results, validation, x, {.name = "validation", .colour = 1, .dots = true});
  return svg_chart(series, options);
}

// Others of the task, one line each.
std::string more_chart(const RunReport& run, const std::string& title,
                       std::initializer_list<const char*> names) {
  std::vector<ChartSeries> series;
  const std::vector<double>* epoch = run.results.find(column_name::kEpoch);
  for (const Metric& one : metric_list(run.task)) {
    if (epoch == nullptr || std::ranges::find(names, std::string_view(one.name)) == names.end()) {
      continue;
    }
    add_series(series, run.results, fmt::format("val_{}", one.name), *epoch,
               {.name = one.label, .colour = 3 + series.size(), .dots = true});
  }
  return svg_chart(series, {.title = title});
}

std::string more_charts(const RunReport& run) {
  switch (run.task) {
    case Task::kClassify:
      return "";
    case Task::kMultilabel:
      return more_chart(run, "Validation F1", {metric_name::kMicroF1, "macro_f1"});
    case Task::kRegress:
      return more_chart(run, "Validation errors", {metric_name::kMae, metric_name::kRmse});
  }
  return "";
}

std::string rate_chart(const RunReport& run) {
  std::vector<ChartSeries> series;
  add_series(series, run.steps, "lr", steps_as_epochs(run), {.name = "learning rate", .colour = 2});
  const std::vector<double>* epoch = run.results.find(column_name::kEpoch);
  if (series.empty() && epoch != nullptr) {
    add_series(series, run.results, column_name::kRate, *epoch,
               {.name = "learning rate", .colour = 2});
  }
  return svg_chart(series, {.title = "Learning rate", .y_low = 0});
}

HtmlCell cell_of(const std::string& name, double value) {
  switch (column_format(name).style) {
    case NumberStyle::kPercent:
      return number_cell(value, percent_text(value));
    case NumberStyle::kCount:
      return number_cell(value, count_text(value));
    case NumberStyle::kNumber:
      break;
  }
  return number_cell(value, number_text(value));
}

std::string numbers(const RunReport& run) {
  HtmlTable table{.label = "Results of every epoch", .columns = run.results.columns, .rows = {}};
  for (std::size_t r = 0; r < run.results.rows(); ++r) {
    std::vector<HtmlCell>& row = table.rows.emplace_back();
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      row.push_back(cell_of(table.columns[c], run.results.values[c][r]));
    }
  }
  table.best = {best_of(run.results, score_column(run.task)).row};
  return table_html(table);
}

}  // namespace

std::string curves_section(const RunReport& run) {
  if (run.results.rows() == 0) return "";
  const ScoreText score = score_text(run.task);
  return fmt::format("<section id=\"curves\"><h2>Curves</h2>\n<div class=\"charts{}\">\n",
                     run.task == Task::kClassify ? "" : " two") +
         chart(run, column_name::kTrainLoss, column_name::kValLoss, "loss", {.title = "Loss"}) +
         chart(run, column_name::kTrainTop1, score.column, "top1",
               {.title = score.title, .percent = score.percent, .y_floor = score_floor(run)}) +
         more_charts(run) + rate_chart(run) + "</div>\n<details><summary>All numbers</summary>\n" +
         numbers(run) + "</details></section>\n";
}

}  // namespace stoker::detail

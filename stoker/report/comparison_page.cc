#include "stoker/report/comparison_page.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/metric_list.h"
#include "stoker/report/comparison.h"
#include "stoker/report/html.h"
#include "stoker/report/html_page.h"
#include "stoker/report/score_text.h"
#include "stoker/report/svg_chart.h"

namespace stoker {
namespace {

std::string with_deviation(const Spread& spread, bool percent, std::size_t runs) {
  const std::string mean =
      percent ? fmt::format("{:.2f}", 100 * spread.mean) : number_text(spread.mean);
  if (!std::isfinite(spread.mean)) return "–";
  const std::string deviation =
      runs < 2 ? ""
               : fmt::format(" ± {}", percent ? fmt::format("{:.2f}", 100 * spread.deviation)
                                              : fmt::format("{:.2g}", spread.deviation));
  return mean + deviation + (percent ? " %" : "");
}

HtmlCell spread_cell(const Spread& spread, bool percent, std::size_t runs) {
  return number_cell(spread.mean, with_deviation(spread, percent, runs));
}

// Of a run or a group: its scores and, at its best epoch, what else the task has.
std::vector<std::string> score_columns(Task task) {
  const std::string label = score_text(task).label;
  std::vector<std::string> names = {"last " + label, "best " + label, "test " + label};
  for (const Metric* one : more_metrics(task)) names.emplace_back(one->label);
  return names;
}

// A score that is no percentage has its four digits in every row.
HtmlCell score_cell(const Spread& spread, bool percent, std::size_t runs) {
  if (percent || !std::isfinite(spread.mean)) return spread_cell(spread, percent, runs);
  std::string text = unit_text(spread.mean);
  if (runs > 1) text += fmt::format(" ± {:.4f}", spread.deviation);
  return number_cell(spread.mean, std::move(text));
}

HtmlTable groups_table(const Comparison& comparison) {
  HtmlTable table{.label = "Settings and results", .columns = comparison.settings, .rows = {}};
  if (comparison.settings.empty()) table.columns = {"run"};
  table.columns.emplace_back("runs");
  for (const std::string& name : score_columns(comparison.task)) table.columns.push_back(name);
  for (const char* name : {"last loss", "training, s", "samples/s", "speed-up", "data wait"}) {
    table.columns.emplace_back(name);
  }
  const bool percent = score_text(comparison.task).percent;
  double first_seconds = std::nan("");
  for (const RunGroup& group : comparison.groups) {
    const auto spread = [&](double RunOutcome::*member) {
      return group_spread(comparison, group, member);
    };
    const std::size_t runs = group.runs.size();
    std::vector<HtmlCell>& row = table.rows.emplace_back();
    for (const std::string& value : group.values) row.push_back(text_cell(value));
    if (comparison.settings.empty()) row.push_back(text_cell(group.name));
    const Spread seconds = spread(&RunOutcome::seconds);
    if (std::isnan(first_seconds)) first_seconds = seconds.mean;
    const double speed_up = first_seconds / seconds.mean;
    row.push_back(number_cell(static_cast<double>(runs), std::to_string(runs)));
    row.push_back(score_cell(spread(&RunOutcome::last_score), percent, runs));
    row.push_back(score_cell(spread(&RunOutcome::best_score), percent, runs));
    row.push_back(score_cell(spread(&RunOutcome::test_score), percent, runs));
    for (std::size_t i = 0; i < more_metrics(comparison.task).size(); ++i) {
      row.push_back(spread_cell(more_spread(comparison, group, i), false, runs));
    }
    row.push_back(spread_cell(spread(&RunOutcome::last_loss), false, runs));
    row.push_back(spread_cell(seconds, false, runs));
    row.push_back(number_cell(spread(&RunOutcome::samples_per_second).mean,
                              count_text(spread(&RunOutcome::samples_per_second).mean)));
    row.push_back(
        number_cell(speed_up, std::isfinite(speed_up) ? fmt::format("{:.2f}", speed_up) : "–"));
    row.push_back(number_cell(spread(&RunOutcome::wait_share).mean,
                              percent_text(spread(&RunOutcome::wait_share).mean)));
  }
  return table;
}

std::string runs_table(std::span<const RunReport> runs, const Comparison& comparison) {
  HtmlTable table{
      .label = "Every run", .columns = {"run", "state", "seed", "fold", "epochs"}, .rows = {}};
  const ScoreText score = score_text(comparison.task);
  for (const std::string& name : score_columns(comparison.task)) table.columns.push_back(name);
  for (const char* name : {"last loss", "training, s", "samples/s"}) {
    table.columns.emplace_back(name);
  }
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const RunOutcome& o = comparison.outcomes[r];
    std::string seed, fold;
    for (const auto& [name, value] : runs[r].settings) {
      if (name == "seed") seed = value;
      if (name == "fold" && value != "-1") fold = value;
    }
    const auto epochs = static_cast<double>(runs[r].results.rows());
    table.rows.push_back({text_cell(runs[r].name), text_cell(runs[r].state), text_cell(seed),
                          text_cell(fold), number_cell(epochs, count_text(epochs)),
                          number_cell(o.last_score, score.value(o.last_score)),
                          number_cell(o.best_score, score.value(o.best_score)),
                          number_cell(o.test_score, score.value(o.test_score))});
    std::vector<HtmlCell>& row = table.rows.back();
    for (const double value : o.more) row.push_back(number_cell(value, number_text(value)));
    row.push_back(number_cell(o.last_loss, number_text(o.last_loss)));
    row.push_back(number_cell(o.seconds, number_text(o.seconds)));
    row.push_back(number_cell(o.samples_per_second, count_text(o.samples_per_second)));
  }
  return table_html(table);
}

std::string axis_chart(const Comparison& comparison, double RunOutcome::*member,
                       const std::string& title, bool percent, bool from_zero) {
  const ComparisonAxis& axis = *comparison.axis;
  std::vector<ChartSeries> series;
  for (std::size_t l = 0; l < axis.lines.size(); ++l) {
    const ComparisonAxis::Line& line = axis.lines[l];
    ChartSeries one{.name = line.name, .x = line.x, .colour = l % kChartColours, .dots = true};
    for (const std::size_t g : line.groups) {
      const Spread spread = group_spread(comparison, comparison.groups[g], member);
      one.y.push_back(spread.mean);
      one.low.push_back(spread.least);
      one.high.push_back(spread.greatest);
    }
    series.push_back(std::move(one));
  }
  return svg_chart(series, {.title = title,
                            .x_name = comparison.settings[axis.setting],
                            .percent = percent,
                            .x_scale = axis.scale,
                            .y_low = from_zero ? std::optional(0.0) : std::nullopt,
                            .x_names = axis.names});
}

// The mean of the group's runs, as far as all of them go.
ChartSeries mean_curve(std::span<const RunReport> runs, const RunGroup& group, std::size_t number,
                       const std::string& column) {
  ChartSeries curve{.name = group.name, .colour = number % kChartColours};
  curve.dashed = number >= kChartColours;
  for (std::size_t row = 0;; ++row) {
    double sum = 0, epoch = 0;
    for (const std::size_t r : group.runs) {
      const std::vector<double>* values = runs[r].results.find(column);
      const std::vector<double>* epochs = runs[r].results.find(column_name::kEpoch);
      if (values == nullptr || epochs == nullptr || row >= values->size()) return curve;
      sum += (*values)[row];
      epoch = (*epochs)[row];
    }
    curve.x.push_back(epoch);
    curve.y.push_back(sum / static_cast<double>(group.runs.size()));
  }
}

std::string curve_chart(std::span<const RunReport> runs, const Comparison& comparison,
                        const std::string& column, ChartOptions options) {
  std::vector<ChartSeries> series;
  for (std::size_t g = 0; g < comparison.groups.size(); ++g) {
    series.push_back(mean_curve(runs, comparison.groups[g], g, column));
  }
  options.whole_x = true;
  return svg_chart(series, options);
}

std::string axis_section(const Comparison& comparison) {
  if (!comparison.axis) return "";
  const std::string name = comparison.settings[comparison.axis->setting];
  const ScoreText score = score_text(comparison.task);
  return fmt::format(
      "<section id=\"against\"><h2>Against {0}</h2>\n<p class=\"hint\">Points are means of "
      "repeats, "
      "lines through them go from the least to the greatest.</p>\n<div class=\"charts\">\n{1}{2}{3}"
      "</div></section>\n",
      escape_html(name),
      axis_chart(comparison, &RunOutcome::seconds, "Training time in seconds", false, true),
      axis_chart(comparison, &RunOutcome::last_score,
                 comparison.task == Task::kClassify ? "Last top-1 accuracy" : "Last " + score.label,
                 score.percent, false),
      axis_chart(comparison, &RunOutcome::samples_per_second, "Samples a second", false, true));
}

std::string curves(std::span<const RunReport> runs, const Comparison& comparison) {
  const ScoreText score = score_text(comparison.task);
  return "<section id=\"curves\"><h2>Curves</h2>\n<div class=\"charts two\">\n" +
         curve_chart(runs, comparison, score.column,
                     {.title = "Validation " + score.label,
                      .percent = score.percent,
                      .y_floor = score_floor(runs)}) +
         curve_chart(runs, comparison, column_name::kValLoss, {.title = "Validation loss"}) +
         curve_chart(runs, comparison, column_name::kTrainLoss, {.title = "Training loss"}) +
         curve_chart(runs, comparison, column_name::kRate, {.title = "Learning rate"}) +
         "</div></section>\n";
}

// What all runs share.
std::string shared_settings(std::span<const RunReport> runs, const Comparison& comparison) {
  NamedValues shared;
  for (const auto& [name, value] : runs.front().settings) {
    if (std::ranges::find(comparison.settings, name) == comparison.settings.end() &&
        name != "seed" && name != "fold" && name != "experiment") {
      shared.emplace_back(name, value);
    }
  }
  if (shared.empty()) return "";
  return "<section id=\"settings\" class=\"long\"><h2>Settings that all share</h2>\n"
         "<div class=\"columns\">" +
         facts_html(shared) + "</div></section>\n";
}

std::string header(std::span<const RunReport> runs, const Comparison& comparison) {
  const std::string varied = comparison.settings.empty()
                                 ? "the same settings"
                                 : fmt::format("{}", fmt::join(comparison.settings, ", "));
  return fmt::format(
      "<header>\n<p class=\"kicker\">stoker report</p>\n<h1>{} runs compared</h1>\n"
      "<p class=\"lead\"><b>{}</b> on <b>{}</b>. {}: <b>{}</b>.</p>\n"
      "<nav class=\"contents\" aria-label=\"Sections\"><a href=\"#results\">Results</a>{}"
      "<a href=\"#curves\">Curves</a><a href=\"#runs\">Runs</a><a href=\"#settings\">Settings</a>"
      "</nav></header>\n",
      runs.size(), escape_html(runs.front().model), escape_html(runs.front().data),
      comparison.settings.empty() ? "They have" : "They differ in", escape_html(varied),
      comparison.axis ? "<a href=\"#against\">Plots</a>" : "");
}

}  // namespace

std::string comparison_page(std::span<const RunReport> runs) {
  const Comparison comparison = compare_runs(runs);
  std::string out = page_head(fmt::format("stoker report: {} runs", runs.size()));
  out += header(runs, comparison) + "<main>\n";
  out +=
      "<section id=\"results\"><h2>Settings and results</h2>\n<p class=\"hint\">Means over runs "
      "that differ in seed or fold alone, ± their standard deviation. Speed-up is against the "
      "first "
      "row.</p>\n" +
      table_html(groups_table(comparison)) + "</section>\n";
  out += axis_section(comparison) + curves(runs, comparison);
  out += "<section id=\"runs\" class=\"long\"><h2>Every run</h2>\n" + runs_table(runs, comparison) +
         "</section>\n";
  out += shared_settings(runs, comparison);
  return out + "</main>\n" + page_end();
}

}  // namespace stoker

#include "stoker/report/run_markdown.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/metric_list.h"
#include "stoker/report/class_scores.h"
#include "stoker/report/comparison.h"
#include "stoker/report/confusion_matrix.h"
#include "stoker/report/detail/run_sections.h"
#include "stoker/report/html_page.h"
#include "stoker/report/line_plot.h"
#include "stoker/report/score_text.h"

namespace stoker {
namespace {

using Row = std::vector<std::string>;

// Text of a file must neither end a cell nor become markup.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\`*_{}[]<>#|!~$").find(c) != std::string_view::npos) out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

std::string row_text(const Row& cells) { return fmt::format("| {} |\n", fmt::join(cells, " | ")); }

// The first column to the left, the others to the right.
std::string table_text(const Row& columns, const std::vector<Row>& rows) {
  std::string out = row_text(columns) + "|---|";
  for (std::size_t i = 1; i < columns.size(); ++i) out += "---:|";
  out += "\n";
  for (const Row& row : rows) out += row_text(row);
  return out + "\n";
}

void add_plot(MarkdownReport& report, const std::string& file, const std::string& title,
              const std::vector<PlotSeries>& series, const LinePlotOptions& options) {
  if (series.empty()) return;
  report.images.push_back({file, line_plot(series, options)});
  report.text += fmt::format("![{}]({})\n\n", escaped(title), file);
}

std::vector<double> in_per_cent(std::vector<double> shares) {
  for (double& share : shares) share *= 100;
  return shares;
}

void add_curve(std::vector<PlotSeries>& list, const RunReport& run, const std::string& column,
               const std::string& name, bool percent) {
  const std::vector<double>* x = run.results.find(column_name::kEpoch);
  const std::vector<double>* y = run.results.find(column);
  if (x == nullptr || y == nullptr) return;
  list.push_back({.name = name, .x = *x, .y = percent ? in_per_cent(*y) : *y});
}

void add_results(MarkdownReport& report, const RunReport& run) {
  Row columns;
  for (const std::string& name : run.results.columns) {
    // With a k of 1 the file has val_top1 twice.
    const bool is_new = std::ranges::find(columns, name) == columns.end();
    if (is_new && column_format(name).in_summary) columns.push_back(name);
  }
  if (columns.empty()) return;
  std::vector<Row> rows(run.results.rows());
  for (const std::string& name : columns) {
    const std::vector<double>& values = *run.results.find(name);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const bool share = column_format(name).style == NumberStyle::kPercent;
      rows[r].push_back(share ? percent_text(values[r]) : number_text(values[r]));
    }
  }
  for (std::string& name : columns) name = escaped(name);
  report.text += "## Results\n\n" + table_text(columns, rows);
}

void add_classes(MarkdownReport& report, const RunReport& run, const std::string& stem) {
  const std::size_t classes = run.class_names.size();
  if (classes == 0 || run.confusion.size() != classes * classes) return;
  report.text += fmt::format("## Classes\n\nValidation after epoch {}.\n\n", run.judged_epoch);
  std::vector<Row> rows;
  const std::vector<ClassScore> scores = class_scores(run.confusion, classes);
  for (std::size_t i = 0; i < classes; ++i) {
    rows.push_back({escaped(run.class_names[i]), std::to_string(scores[i].support),
                    percent_text(scores[i].precision), percent_text(scores[i].recall),
                    fmt::format("{:.4f}", scores[i].f1)});
  }
  report.text += table_text({"class", "samples", "precision", "recall", "F1"}, rows);
  constexpr std::size_t kMostDrawn = 200;
  if (classes > kMostDrawn) return;
  const std::string file = stem + "_confusion.png";
  report.images.push_back({file, confusion_matrix(run.confusion, run.class_names)});
  report.text += fmt::format("![Confusion matrix]({})\n\n", file);
}

// Of several labels.
void add_labels(MarkdownReport& report, const RunReport& run) {
  if (run.classes.empty() || run.classes.size() != run.class_names.size()) return;
  report.text += fmt::format("## Classes\n\nValidation after epoch {}.\n\n", run.judged_epoch);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < run.classes.size(); ++i) {
    const ClassMetrics& c = run.classes[i];
    rows.push_back({escaped(run.class_names[i]), std::to_string(c.support),
                    percent_text(c.average_precision), unit_text(c.threshold),
                    percent_text(c.precision), percent_text(c.recall), unit_text(c.f1)});
  }
  report.text +=
      table_text({"class", "samples", "AP", "threshold", "precision", "recall", "F1"}, rows);
}

// Of a regression, with a plot of each of the first targets.
void add_targets(MarkdownReport& report, const RunReport& run, const std::string& stem) {
  constexpr std::size_t kMostPlots = 12, kMostPoints = 3000;
  if (run.targets.empty() || run.targets.size() != run.class_names.size()) return;
  report.text += fmt::format("## Targets\n\nValidation after epoch {}.\n\n", run.judged_epoch);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < run.targets.size(); ++i) {
    const TargetMetrics& t = run.targets[i];
    rows.push_back(
        {escaped(run.class_names[i]), unit_text(t.r2), number_text(t.mae), number_text(t.rmse)});
  }
  report.text += table_text({"target", "R²", "MAE", "RMSE"}, rows);
  for (std::size_t i = 0; i < std::min(run.targets.size(), kMostPlots); ++i) {
    const detail::TargetPoints points = detail::target_points(run, i, kMostPoints);
    if (points.truth.empty()) continue;
    const std::string title = fmt::format("{}: predicted against true", run.class_names[i]);
    add_plot(report, fmt::format("{}_target{}.png", stem, i + 1), title,
             {{.name = "", .x = points.truth, .y = points.predicted, .joined = false},
              {.name = "", .x = points.ends, .y = points.ends}},
             {.title = title,
              .x_title = "true",
              .y_title = "predicted",
              .markers = false,
              .width = 640,
              .height = 600});
  }
}

void add_ranks(MarkdownReport& report, const RunReport& run) {
  std::vector<Row> rows = detail::ranks_rows(run);
  if (rows.empty()) return;
  const Row columns = rows.front();
  rows.erase(rows.begin());
  report.text += "## Ranks\n\n" + table_text(columns, rows);
}

std::string values_table(const Row& columns, const NamedValues& values) {
  std::vector<Row> rows;
  for (const auto& [name, value] : values) rows.push_back({escaped(name), escaped(value)});
  return table_text(columns, rows);
}

std::string spread_text(const Spread& spread, double scale, std::size_t runs, int digits = 2) {
  if (!std::isfinite(spread.mean)) return "–";
  const std::string mean = fmt::format("{:.{}f}", scale * spread.mean, digits);
  return runs < 2 ? mean : fmt::format("{} ± {:.{}f}", mean, scale * spread.deviation, digits);
}

std::string comparison_table(const Comparison& comparison) {
  Row columns;
  for (const std::string& name : comparison.settings) columns.push_back(escaped(name));
  if (columns.empty()) columns = {"run"};
  const ScoreText score = score_text(comparison.task);
  columns.emplace_back("runs");
  for (const char* which : {"last", "best", "test"}) {
    columns.push_back(fmt::format("{} {}{}", which, score.label, score.unit()));
  }
  const auto more = more_metrics(comparison.task);
  for (const Metric* one : more) columns.emplace_back(one->label);
  for (const char* name : {"last loss", "training, s", "samples/s", "speed-up"}) {
    columns.emplace_back(name);
  }
  const double scale = score.scale();
  const int digits = score.percent ? 2 : 4;
  std::vector<Row> rows;
  double first_seconds = std::nan("");
  for (const RunGroup& group : comparison.groups) {
    const auto spread = [&](double RunOutcome::*member) {
      return group_spread(comparison, group, member);
    };
    Row row;
    for (const std::string& value : group.values) row.push_back(escaped(value));
    if (row.empty()) row = {escaped(group.name)};
    const std::size_t runs = group.runs.size();
    const Spread seconds = spread(&RunOutcome::seconds);
    if (std::isnan(first_seconds)) first_seconds = seconds.mean;
    row.push_back(std::to_string(runs));
    row.push_back(spread_text(spread(&RunOutcome::last_score), scale, runs, digits));
    row.push_back(spread_text(spread(&RunOutcome::best_score), scale, runs, digits));
    row.push_back(spread_text(spread(&RunOutcome::test_score), scale, runs, digits));
    for (std::size_t i = 0; i < more.size(); ++i) {
      row.push_back(spread_text(more_spread(comparison, group, i), 1, runs, digits));
    }
    row.push_back(fmt::format("{:.4f}", spread(&RunOutcome::last_loss).mean));
    row.push_back(spread_text(seconds, 1, runs));
    row.push_back(count_text(spread(&RunOutcome::samples_per_second).mean));
    row.push_back(fmt::format("{:.2f}", first_seconds / seconds.mean));
    rows.push_back(std::move(row));
  }
  return table_text(columns, rows);
}

void add_axis_plot(MarkdownReport& report, const Comparison& comparison, double RunOutcome::*member,
                   const std::string& title, const std::string& file, double scale) {
  // Words have no place on an axis of numbers; the table has them.
  if (!comparison.axis || !comparison.axis->numeric) return;
  std::vector<PlotSeries> series;
  for (const ComparisonAxis::Line& line : comparison.axis->lines) {
    PlotSeries one{.name = line.name, .x = line.x, .y = {}};
    for (const std::size_t g : line.groups) {
      one.y.push_back(scale * group_spread(comparison, comparison.groups[g], member).mean);
    }
    series.push_back(std::move(one));
  }
  add_plot(report, file, title, series,
           {.title = title,
            .x_title = comparison.settings[comparison.axis->setting],
            .x_scale = comparison.axis->scale});
}

}  // namespace

MarkdownReport run_markdown(const RunReport& run, const std::string& stem) {
  MarkdownReport report;
  const ScoreText score = score_text(run.task);
  report.text = fmt::format(
      "# {}\n\n{} on {}, {} epochs, augmentation: {}. Best validation {} {}, "
      "training {}, {} samples/s.\n\n",
      escaped(run.name), escaped(run.model), escaped(run.data), run.results.rows(),
      run.augmentation.empty() ? "none" : escaped(run.augmentation), score.label,
      score.value(detail::best_of(run.results, score.column).value),
      duration_text(detail::training_seconds(run)), count_text(detail::training_speed(run)));
  if (run.test.known(run.task)) {
    report.text +=
        fmt::format("Test {} {} on {} samples, with the weights of epoch {}.\n\n", score.label,
                    score.value(run.test.score(run.task)), run.test.samples, run.test.epoch);
  }
  for (const std::string& warning : run.warnings) {
    report.text += fmt::format("**Warning:** {}\n\n", escaped(warning));
  }
  if (const double features = detail::features_seconds(run); features > 0) {
    report.text +=
        fmt::format("Making features took {} of the training time.\n\n", duration_text(features));
  }
  std::vector<PlotSeries> loss, scores;
  add_curve(loss, run, column_name::kTrainLoss, "training", false);
  add_curve(loss, run, column_name::kValLoss, "validation", false);
  add_curve(scores, run, column_name::kTrainTop1, "training", score.percent);
  add_curve(scores, run, score.column, "validation", score.percent);
  add_plot(report, stem + "_loss.png", "Loss", loss, {.title = "Loss", .x_title = "epoch"});
  add_plot(
      report, fmt::format("{}_{}.png", stem, score.name), score.title, scores,
      {.title = score.title + score.unit_words(), .x_title = "epoch", .y_min = score_floor(run)});
  add_results(report, run);
  add_classes(report, run, stem);
  add_labels(report, run);
  add_targets(report, run, stem);
  add_ranks(report, run);
  if (!run.settings.empty()) {
    report.text += "## Settings\n\n" + values_table({"setting", "value"}, run.settings);
  }
  for (const auto& [title, values] : run.facts) {
    report.text +=
        fmt::format("## {}\n\n", escaped(title)) + values_table({"what", "value"}, values);
  }
  return report;
}

MarkdownReport comparison_markdown(std::span<const RunReport> runs, const std::string& stem) {
  const Comparison comparison = compare_runs(runs);
  MarkdownReport report;
  report.text = fmt::format("# {} runs compared\n\n{} on {}.\n\n", runs.size(),
                            escaped(runs.front().model), escaped(runs.front().data));
  report.text += comparison_table(comparison);
  add_axis_plot(report, comparison, &RunOutcome::seconds, "Training time in seconds",
                stem + "_time.png", 1);
  const ScoreText score = score_text(comparison.task);
  const bool accuracy = comparison.task == Task::kClassify;
  add_axis_plot(
      report, comparison, &RunOutcome::last_score,
      fmt::format("Last {}{}", accuracy ? "top-1 accuracy" : score.label, score.unit_words()),
      stem + (accuracy ? "_accuracy.png" : "_last.png"), score.scale());
  std::vector<PlotSeries> curves;
  for (const RunGroup& group : comparison.groups) {
    add_curve(curves, runs[group.runs.front()], score.column, group.name, score.percent);
  }
  const std::string title = "Validation " + score.label;
  add_plot(report, fmt::format("{}_{}.png", stem, score.name), title, curves,
           {.title = title + score.unit_words(), .x_title = "epoch", .y_min = score_floor(runs)});
  return report;
}

}  // namespace stoker

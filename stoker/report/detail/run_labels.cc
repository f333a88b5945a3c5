// How well each class of several labels is known, and each target of a regression.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stoker/report/detail/run_sections.h"
#include "stoker/report/html.h"
#include "stoker/report/html_page.h"
#include "stoker/report/score_text.h"
#include "stoker/report/svg_chart.h"

namespace stoker::detail {
namespace {

constexpr std::size_t kMostPoints = 4000;  // of a page, all targets together
constexpr std::size_t kLeastPoints = 300;  // of one target
constexpr std::size_t kMostTargetCharts = 12;

HtmlCell percent_cell(double share) { return number_cell(share, percent_text(share)); }
HtmlCell plain_cell(double value) { return number_cell(value, number_text(value)); }
// Of a number up to 1, so that all of a column have the same digits.
HtmlCell unit_cell(double value) { return number_cell(value, unit_text(value)); }

std::string labels_table(const RunReport& run) {
  HtmlTable table{.label = "Scores of every class",
                  .columns = {"class", "samples", "AP", "threshold", "precision", "recall", "F1"},
                  .rows = {}};
  for (std::size_t i = 0; i < run.classes.size(); ++i) {
    const ClassMetrics& c = run.classes[i];
    const auto samples = static_cast<double>(c.support);
    table.rows.push_back({text_cell(run.class_names[i]), number_cell(samples, count_text(samples)),
                          percent_cell(c.average_precision), unit_cell(c.threshold),
                          percent_cell(c.precision), percent_cell(c.recall), unit_cell(c.f1)});
  }
  return table_html(table);
}

std::string target_chart(const RunReport& run, std::size_t target) {
  const TargetPoints points =
      target_points(run, target, std::max(kLeastPoints, kMostPoints / run.class_names.size()));
  const std::string& name = run.class_names[target];
  return svg_chart({{{.name = "samples", .x = points.truth, .y = points.predicted, .points = true},
                     {.name = "exact",
                      .x = points.ends,
                      .y = points.ends,
                      .colour = 7,
                      .dashed = true,
                      .still = true}}},
                   {.title = fmt::format("{}: predicted against true", name),
                    .x_name = fmt::format("true {}", name),
                    .width = 420,
                    .height = 400});
}

std::string targets_table(const RunReport& run) {
  HtmlTable table{
      .label = "Errors of every target", .columns = {"target", "R²", "MAE", "RMSE"}, .rows = {}};
  for (std::size_t i = 0; i < run.targets.size(); ++i) {
    const TargetMetrics& t = run.targets[i];
    table.rows.push_back(
        {text_cell(run.class_names[i]), unit_cell(t.r2), plain_cell(t.mae), plain_cell(t.rmse)});
  }
  return table_html(table);
}

}  // namespace

TargetPoints target_points(const RunReport& run, std::size_t target, std::size_t most) {
  TargetPoints points;
  const std::size_t targets = run.class_names.size(), all = run.numbers.truth.size();
  if (targets == 0 || all % targets != 0 || run.numbers.predicted.size() != all) return points;
  const std::size_t samples = all / targets, shown = std::min(samples, most);
  double least = INFINITY, greatest = -INFINITY;
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t at = i * samples / shown * targets + target;
    const double truth = run.numbers.truth[at], predicted = run.numbers.predicted[at];
    if (!std::isfinite(truth) || !std::isfinite(predicted)) continue;
    points.truth.push_back(truth);
    points.predicted.push_back(predicted);
    least = std::min({least, truth, predicted});
    greatest = std::max({greatest, truth, predicted});
  }
  if (!points.truth.empty()) points.ends = {least, greatest};
  return points;
}

std::string labels_section(const RunReport& run) {
  if (run.classes.empty() || run.classes.size() != run.class_names.size()) return "";
  return fmt::format(
      "<section id=\"classes\" class=\"long\"><h2>Classes</h2>\n<p class=\"hint\">Validation after "
      "epoch {}. An image counts as showing a class from the class’s threshold on; average "
      "precision (AP) covers all thresholds.</p>\n{}</section>\n",
      run.judged_epoch, labels_table(run));
}

std::string targets_section(const RunReport& run) {
  if (run.targets.empty() || run.targets.size() != run.class_names.size()) return "";
  std::string charts;
  for (std::size_t t = 0; t < std::min(run.targets.size(), kMostTargetCharts); ++t) {
    charts += target_chart(run, t);
  }
  const std::string note = run.targets.size() > kMostTargetCharts && !charts.empty()
                               ? fmt::format(" Plots of the first {} targets.", kMostTargetCharts)
                               : "";
  const std::string table = targets_table(run);
  return fmt::format(
      "<section id=\"targets\" class=\"long\"><h2>Predicted against true</h2>\n<p class=\"hint\">"
      "Validation after epoch {}. Points on the dashed line are exact.{}</p>\n{}</section>\n",
      run.judged_epoch, note,
      run.targets.size() == 1
          ? fmt::format("<div class=\"split\"><div style=\"flex:0 1 460px\">{}</div>"
                        "<div class=\"grow\">{}</div></div>\n",
                        charts, table)
          : fmt::format("<div class=\"charts squares\">\n{}</div>\n"
                        "<h3 style=\"margin-top:18px\">Every target</h3>\n{}",
                        charts, table));
}

}  // namespace stoker::detail

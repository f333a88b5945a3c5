// How well each class is known: confusion matrix, table, calibration.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stoker/image/png.h"
#include "stoker/report/class_scores.h"
#include "stoker/report/confusion_matrix.h"
#include "stoker/report/detail/run_sections.h"
#include "stoker/report/html.h"
#include "stoker/report/html_page.h"

namespace stoker::detail {
namespace {

constexpr std::size_t kMostCells = 24;   // classes of a matrix with numbers
constexpr std::size_t kMostDrawn = 200;  // of one that is an image
constexpr std::size_t kMostPairs = 10;

std::string cell_html(const RunReport& run, std::size_t truth, std::size_t taken, double support) {
  const std::size_t classes = run.class_names.size();
  const std::int64_t count = run.confusion[truth * classes + taken];
  if (count == 0) return "<td class=\"zero\"></td>";
  const double share = static_cast<double>(count) / support;
  const double shade = 0.06 + 0.94 * share;  // even one sample is seen
  constexpr double kDeep = 0.797;            // from here on white is easier to read than black
  return fmt::format("<td style=\"--v:{:.3f}\"{} title=\"{} taken for {}: {} ({:.1f} %)\">{}</td>",
                     shade, shade > kDeep ? " class=\"deep\"" : "",
                     escape_html(run.class_names[truth]), escape_html(run.class_names[taken]),
                     count, 100 * share, count);
}

std::string matrix_table(const RunReport& run, const std::vector<ClassScore>& scores) {
  std::string out =
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Confusion matrix\">"
      "<table class=\"confusion\"><caption>Rows: true class; columns: predicted class</caption>"
      "<thead><tr><td class=\"zero corner\" style=\"--v:0;background:none\"></td>";
  for (const std::string& name : run.class_names) {
    out += fmt::format("<th scope=\"col\"><span>{}</span></th>", escape_html(name));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < run.class_names.size(); ++i) {
    out += fmt::format("<tr><th scope=\"row\" title=\"{0}\">{0}</th>",
                       escape_html(run.class_names[i]));
    for (std::size_t j = 0; j < run.class_names.size(); ++j) {
      out +=
          cell_html(run, i, j, static_cast<double>(std::max<std::int64_t>(1, scores[i].support)));
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string matrix_image(const RunReport& run) {
  const Image image = confusion_matrix(run.confusion, run.class_names);
  return fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Confusion matrix\">"
      "<img alt=\"Confusion matrix; the most confused pairs are listed beside\" style=\"max-width:"
      "100%;height:auto\" width=\"{}\" height=\"{}\" src=\"data:image/png;base64,{}\"></div>\n",
      image.shape().width, image.shape().height, base64(encode_png(image.view())));
}

std::string matrix_html(const RunReport& run, const std::vector<ClassScore>& scores) {
  if (run.class_names.size() <= kMostCells) return matrix_table(run, scores);
  return run.class_names.size() <= kMostDrawn ? matrix_image(run) : "";
}

std::string pairs_html(const RunReport& run, const std::vector<ClassScore>& scores) {
  const auto pairs = confused_pairs(run.confusion, run.class_names.size(), kMostPairs);
  if (pairs.empty()) return "<p>No validation sample was taken for another class.</p>\n";
  std::string out = "<h3>Confused most</h3>\n<ol class=\"pairs\">\n";
  for (const ConfusedPair& pair : pairs) {
    out += fmt::format(
        "<li>{} taken for {}: <b>{}</b> <span class=\"pale\">({:.1f} % of its {})</span></li>\n",
        escape_html(run.class_names[pair.truth]), escape_html(run.class_names[pair.taken_for]),
        pair.count,
        100 * static_cast<double>(pair.count) / static_cast<double>(scores[pair.truth].support),
        scores[pair.truth].support);
  }
  return out + "</ol>\n";
}

std::string scores_html(const RunReport& run, const std::vector<ClassScore>& scores) {
  HtmlTable table{.label = "Scores of every class",
                  .columns = {"class", "samples", "predicted", "precision", "recall", "F1"},
                  .rows = {}};
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const ClassScore& s = scores[i];
    table.rows.push_back(
        {text_cell(run.class_names[i]),
         number_cell(static_cast<double>(s.support), count_text(static_cast<double>(s.support))),
         number_cell(static_cast<double>(s.predicted),
                     count_text(static_cast<double>(s.predicted))),
         number_cell(s.precision, percent_text(s.precision)),
         number_cell(s.recall, percent_text(s.recall)),
         number_cell(s.f1, fmt::format("{:.4f}", s.f1))});
  }
  return "<h3 style=\"margin-top:18px\">Every class</h3>\n" + table_html(table);
}

// Bars of the accuracy at each confidence; what is missing to the confidence, or beyond it, is in
// another colour.
std::string reliability_chart(const std::vector<CalibrationBin>& bins) {
  constexpr double kLeft = 46, kTop = 8, kSide = 250;
  const double width = kSide / static_cast<double>(bins.size());
  const auto at = [&](double share) { return kTop + (1 - share) * kSide; };
  std::string out =
      "<figure class=\"chart\" style=\"max-width:360px\"><figcaption>Accuracy at each confidence"
      "</figcaption><svg viewBox=\"0 0 310 296\" role=\"img\" aria-label=\"Accuracy at each "
      "confidence, as in the table\"><g class=\"grid\">";
  for (int i = 0; i <= 5; ++i) {
    out += fmt::format("<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>", kLeft,
                       kLeft + kSide, at(i / 5.0));
  }
  out += "</g><g class=\"bars\">";
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const CalibrationBin& bin = bins[i];
    if (bin.samples == 0) continue;
    const double x = kLeft + static_cast<double>(i) * width + 1.5;
    const double low = std::min(bin.accuracy, bin.confidence);
    const double high = std::max(bin.accuracy, bin.confidence);
    const auto bar = [&](const char* colour, double from, double to) {
      out += fmt::format(
          "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
          colour, x, at(to), width - 3, (to - from) * kSide);
    };
    bar("c0", 0, low);
    bar(bin.accuracy < bin.confidence ? "c1" : "c2", low, high);
  }
  out += fmt::format("</g><g class=\"series c7 dashed\"><path d=\"M{} {}L{} {}\"/></g>", kLeft,
                     at(0), kLeft + kSide, at(1));
  for (int i = 0; i <= 5; ++i) {
    out += fmt::format(
        "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{} %</text>"
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
        kLeft - 6, at(i / 5.0) + 4, 20 * i, kLeft + kSide * i / 5, kTop + kSide + 16, 20 * i);
  }
  return out + fmt::format(
                   "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">confidence in per cent"
                   "</text></svg><ul class=\"legend blocks\"><li class=\"c0\">right</li>"
                   "<li class=\"c1\">overconfident</li>"
                   "<li class=\"c2\">underconfident</li></ul></figure>\n",
                   kLeft + kSide / 2, kTop + kSide + 33);
}

std::string bins_table(const std::vector<CalibrationBin>& bins) {
  HtmlTable table{.label = "Calibration",
                  .columns = {"confidence", "samples", "mean confidence", "accuracy", "gap"},
                  .rows = {}};
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const CalibrationBin& bin = bins[i];
    if (bin.samples == 0) continue;
    const double step = 100.0 / static_cast<double>(bins.size()),
                 low = step * static_cast<double>(i);
    const double gap = bin.accuracy - bin.confidence;
    table.rows.push_back({number_cell(low, fmt::format("{:.0f} – {:.0f} %", low, low + step)),
                          number_cell(static_cast<double>(bin.samples),
                                      count_text(static_cast<double>(bin.samples))),
                          number_cell(bin.confidence, percent_text(bin.confidence)),
                          number_cell(bin.accuracy, percent_text(bin.accuracy)),
                          number_cell(gap, fmt::format("{:+.2f} %", 100 * gap))});
  }
  return table_html(table);
}

}  // namespace

std::string classes_section(const RunReport& run) {
  const std::size_t classes = run.class_names.size();
  if (classes == 0 || run.confusion.size() != classes * classes) return "";
  const std::vector<ClassScore> scores = class_scores(run.confusion, classes);
  return fmt::format(
      "<section id=\"classes\" class=\"long\"><h2>Classes</h2>\n<p class=\"hint\">Validation after "
      "epoch {}.</p>\n<div class=\"split\"><div>{}</div><div class=\"grow\">{}</div></div>\n{}"
      "</section>\n",
      run.judged_epoch, matrix_html(run, scores), pairs_html(run, scores),
      scores_html(run, scores));
}

std::string calibration_section(const RunReport& run) {
  if (run.calibration.empty()) return "";
  const double ece = last_of(run.results, "val_ece");
  return fmt::format(
      "<section id=\"calibration\"><h2>Calibration</h2>\n<p class=\"hint\">Of the predictions made "
      "with a confidence of 80 %, 80 % should be right: bars that end at the dashed line. "
      "Expected calibration error {}.</p>\n"
      "<div class=\"split\"><div style=\"flex:0 1 360px\">{}</div><div "
      "class=\"grow\">{}</div></div>"
      "</section>\n",
      std::isfinite(ece) ? fmt::format("{:.2f} %", 100 * ece) : "not known",
      reliability_chart(run.calibration), bins_table(run.calibration));
}

}  // namespace stoker::detail

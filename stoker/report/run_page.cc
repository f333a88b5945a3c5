#include "stoker/report/run_page.h"

#include <cmath>

#include <fmt/format.h>

#include "stoker/core/metric_list.h"
#include "stoker/report/detail/run_sections.h"
#include "stoker/report/html.h"
#include "stoker/report/html_page.h"
#include "stoker/report/score_text.h"

namespace stoker {
namespace detail {

std::string settings_section(const RunReport& run) {
  if (run.settings.empty()) return "";
  return "<section id=\"settings\" class=\"long\"><h2>Settings</h2>\n<p class=\"hint\">As in "
         "args.yaml, with what was chosen in place of “auto”.</p>\n<div class=\"columns\">" +
         facts_html(run.settings) + "</div></section>\n";
}

std::string facts_section(const RunReport& run) {
  if (run.facts.empty()) return "";
  std::string out =
      "<section id=\"machine\"><h2>Machine, versions, digests</h2>\n<div class=\"groups\">\n";
  for (const auto& [title, values] : run.facts) {
    out += fmt::format("<div><h3>{}</h3>{}</div>\n", escape_html(title), facts_html(values));
  }
  return out + "</div></section>\n";
}

}  // namespace detail

namespace {

using namespace detail;

struct Section {
  const char* id;
  const char* title;
  std::string html;
};

std::vector<Section> sections_of(const RunReport& run) {
  return {{"curves", "Curves", curves_section(run)},
          {"classes", "Classes",
           run.task == Task::kMultilabel ? labels_section(run) : classes_section(run)},
          {"targets", "Targets", run.task == Task::kRegress ? targets_section(run) : ""},
          {"calibration", "Calibration", calibration_section(run)},
          {"losses", "Top losses", losses_section(run)},
          {"doubts", "Most doubtful", doubts_section(run)},
          {"batch", "Augmentation", batch_section(run)},
          {"time", "Time", time_section(run)},
          {"ranks", "Ranks", ranks_section(run)},
          {"settings", "Settings", settings_section(run)},
          {"machine", "Machine", facts_section(run)}};
}

std::string tiles(const RunReport& run) {
  const NumberTable& results = run.results;
  std::string out = "<div class=\"tiles\">\n";
  const ScoreText score = score_text(run.task);
  const BestRow best = best_of(results, score.column);
  if (best.row < results.rows()) {
    if (run.test.known(run.task)) {
      out += tile(score.value(run.test.score(run.task)),
                  fmt::format("test {}, weights of epoch {}", score.label, run.test.epoch));
    }
    out += tile(score.value(best.value),
                fmt::format("best validation {}, epoch {}", score.label, best.row + 1));
    const std::vector<const Metric*> more = more_metrics(run.task);
    for (const Metric* one : more) {
      out += tile(number_text(metric_at(run, *one, best.row)),
                  fmt::format("validation {}, epoch {}", one->label, best.row + 1));
    }
    // Seven tiles make one row.
    if (more.empty()) {
      out += tile(score.value(last_of(results, score.column)),
                  fmt::format("validation {}, last epoch", score.label));
    }
    if (more.size() < 2) {
      out +=
          tile(number_text(last_of(results, column_name::kValLoss)), "validation loss, last epoch");
    }
  }
  out += tile(duration_text(training_seconds(run)), "training");
  out += tile(count_text(training_speed(run)), "samples/s");
  const double wait = waiting_share(run);
  if (std::isfinite(wait)) out += tile(fmt::format("{:.1f} %", 100 * wait), "data wait");
  return out + "</div>\n";
}

std::string lead(const RunReport& run) {
  const std::size_t epochs = run.results.rows();
  std::string text = fmt::format("<b>{}</b> on <b>{}</b>, {} {}",
                                 escape_html(run.model.empty() ? "a network" : run.model),
                                 escape_html(run.data.empty() ? "unknown data" : run.data), epochs,
                                 epochs == 1 ? "epoch" : "epochs");
  text += run.augmentation.empty()
              ? ", no augmentation"
              : fmt::format(", augmentation {}", escape_html(run.augmentation));
  if (!run.state.empty() && run.state != "finished") {
    text += fmt::format(". The run is <b>{}</b>", escape_html(run.state));
  }
  std::string out = "<p class=\"lead\">" + text + ".</p>\n";
  for (const std::string& warning : run.warnings) {
    out += fmt::format("<p class=\"lead warning\"><b>Warning:</b> {}</p>\n", escape_html(warning));
  }
  return out;
}

}  // namespace

std::string run_page(const RunReport& run) {
  const std::vector<Section> sections = sections_of(run);
  std::string out = page_head("stoker report: " + run.name);
  out += fmt::format("<header>\n<p class=\"kicker\">stoker report</p>\n<h1>{}</h1>\n{}{}",
                     escape_html(run.name), lead(run), tiles(run));
  out += "<nav class=\"contents\" aria-label=\"Sections\">\n";
  for (const Section& section : sections) {
    if (section.html.empty()) continue;
    out += fmt::format("<a href=\"#{}\">{}</a>\n", section.id, section.title);
  }
  out += "</nav></header>\n<main>\n";
  for (const Section& section : sections) out += section.html;
  out += fmt::format("</main>\n<footer>{}</footer>\n", escape_html(run.folder));
  return out + page_end();
}

}  // namespace stoker

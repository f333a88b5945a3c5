#include "stoker/cli/folds.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "stoker/cli/child_runs.h"
#include "stoker/cli/progress.h"
#include "stoker/cli/screen_text.h"
#include "stoker/core/atomic_file.h"
#include "stoker/core/error.h"
#include "stoker/report/comparison.h"
#include "stoker/report/html_page.h"
#include "stoker/report/score_text.h"
#include "stoker/run/fold_folders.h"
#include "stoker/run/json_text.h"
#include "stoker/run/report_file.h"
#include "stoker/run/run_folder.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kSummary = "folds.json";

// A setting of folds.yaml; empty where it is not there.
std::string setting_of(const fs::path& folder, const std::string& wanted) {
  for (const auto& [name, value] : read_yaml_pairs(folder / kFoldsSettingsFile)) {
    if (name == wanted) return value;
  }
  return "";
}

std::uint32_t number_of_folds(const fs::path& folder) {
  const std::string text = setting_of(folder, "folds");
  std::uint32_t folds = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), folds);
  if (read.ec == std::errc{} && read.ptr == text.data() + text.size() && folds >= 2) return folds;
  throw Error({.what = "cannot read how many folds there are",
               .path = (folder / kFoldsSettingsFile).string(),
               .expected = "folds: 2 or more",
               .found = fmt::format("\"{}\"", text)});
}

std::vector<SweepRun> runs_of(const fs::path& folder) {
  const std::uint32_t folds = number_of_folds(folder);
  std::vector<SweepRun> runs;
  for (std::uint32_t fold = 0; fold < folds; ++fold) {
    runs.push_back(
        {.name = fold_name(fold),
         .arguments = {fmt::format("--config={}", (folder / kFoldsSettingsFile).string()),
                       fmt::format("--folds={}", folds), fmt::format("--fold={}", fold)}});
  }
  return runs;
}

void say_outcome(const SweepRun& run, std::size_t count, const ScoreText& score,
                 const std::vector<RunOutcome>& outcomes) {
  const RunOutcome& outcome = outcomes.back();
  double seconds = 0;
  for (const RunOutcome& one : outcomes) seconds += one.seconds;
  show(stdout,
       fmt::format(
           "{} of {}: best val {} {}, last {}{}{}\n", run.name, count, score.label,
           score.value(outcome.best_score), score.value(outcome.last_score),
           std::isfinite(outcome.test_score) ? ", test " + score.value(outcome.test_score) : "",
           time_left_text(seconds, outcomes.size(), count)));
}

// "mean", "std", "least", "greatest" and the values; nothing where there are none.
Json spread_json(const std::vector<RunOutcome>& outcomes, double RunOutcome::*member) {
  std::vector<double> values;
  for (const RunOutcome& outcome : outcomes) values.push_back(outcome.*member);
  const Spread spread = spread_of(values);
  if (!std::isfinite(spread.mean)) return nullptr;
  return {{"mean", spread.mean},
          {"std", spread.deviation},
          {"least", spread.least},
          {"greatest", spread.greatest},
          {"values", values}};
}

std::string spread_text(const Json& spread, const ScoreText& score) {
  const double mean = spread["mean"].get<double>(), deviation = spread["std"].get<double>();
  if (!score.percent) return fmt::format("{:.4f} ± {:.4f}", mean, deviation);
  return fmt::format("{:.2f} ± {:.2f} %", 100 * mean, 100 * deviation);
}

void summarise(const fs::path& folder, const ScoreText& score,
               const std::vector<RunOutcome>& outcomes) {
  const std::string best = "best_val_" + score.name, last = "last_val_" + score.name,
                    test = "test_" + score.name;
  const Json json = {{"folds", outcomes.size()},
                     {best, spread_json(outcomes, &RunOutcome::best_score)},
                     {last, spread_json(outcomes, &RunOutcome::last_score)},
                     {test, spread_json(outcomes, &RunOutcome::test_score)}};
  write_whole_file(folder / kSummary, json_text(json) + "\n", "summary of the folds");
  for (const std::string& name : {best, last, test}) {
    if (json[name].is_null()) continue;
    show(stdout, fmt::format("{:13}  {}\n", name, spread_text(json[name], score)));
  }
}

fs::path new_folder(const RunSettings& run, const std::string& default_name) {
  const fs::path output = run.output;
  if (run.experiment.empty()) {
    fs::path folder = output / default_name;
    for (int i = 2; fs::exists(folder); ++i)
      folder = output / fmt::format("{}-{}", default_name, i);
    return folder;
  }
  const fs::path folder = RunFolder::path_of(output, run.experiment);
  if (run.resume == "auto" || !fs::exists(folder)) return folder;
  throw Error({.what = "run already exists",
               .path = folder.string(),
               .hint = "Choose another --experiment, or resume it with --resume"});
}

}  // namespace

std::optional<fs::path> folds_to_resume(const RunSettings& run) {
  if (run.resume.empty()) return std::nullopt;
  const std::string& name = run.resume == "auto" ? run.experiment : run.resume;
  if (name.empty()) return std::nullopt;
  if (run.resume == "auto") {
    fs::path path = RunFolder::path_of(run.output, name);
    return is_folds_folder(path) ? std::optional(std::move(path)) : std::nullopt;
  }
  for (const fs::path& path : {fs::path(name), fs::path(run.output) / name}) {
    if (is_folds_folder(path)) return path;
  }
  return std::nullopt;
}

void complete_folds(const fs::path& folder) {
  const std::vector<SweepRun> runs = runs_of(folder);
  const StopSignals signals;
  const std::string resume = fmt::format("stoker train --resume {}", folder.string());
  std::vector<RunOutcome> outcomes;
  std::vector<std::string> folders;
  ScoreText score;
  for (const SweepRun& run : runs) {
    complete_run(run, folder, signals, resume);
    folders.push_back((folder / run.name).string());
    const RunReport report = read_run(folder / run.name);
    score = score_text(report.task);
    outcomes.push_back(outcome_of(report));
    say_outcome(run, runs.size(), score, outcomes);
  }
  summarise(folder, score, outcomes);
  if (setting_of(folder, "no-report") == "true") return;
  write_report(folders, folder / "report.html", ReportFormat::kHtml);
  show(stdout, fmt::format("{:13}  {}\n", "report", (folder / "report.html").string()));
}

fs::path make_folds_folder(const RunRequest& request, const std::string& default_name) {
  RunSettings run = request.settings;
  for (std::string* data :
       {&run.data, &run.validation.data, &run.validation.test_data, &run.pretrained}) {
    if (fs::exists(*data)) *data = fs::absolute(*data).string();
  }
  const std::set<std::string> omitted = {"config", "recipe",     "resume",
                                         "output", "experiment", "fold"};
  const SettingValues values = values_of(settings_of(run), [&](const Setting& setting) {
    return request.given.contains(setting.name) && !omitted.contains(setting.name);
  });
  fs::path folder = new_folder(run, default_name);
  fs::create_directories(folder);
  write_whole_file(folder / kFoldsSettingsFile, to_yaml(values), "settings of the folds");
  return folder;
}

}  // namespace stoker

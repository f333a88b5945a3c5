// `stoker sweep`: trains every combination of some flags, one after the other or as a Slurm array,
// and compares them. What is done is seen from the runs' files, so it can be broken off anywhere.
#include <cmath>

#include <fmt/format.h>

#include "stoker/cli/child_process.h"
#include "stoker/cli/child_runs.h"
#include "stoker/cli/commands/commands.h"
#include "stoker/cli/progress.h"
#include "stoker/cli/screen_text.h"
#include "stoker/cli/sweep_plan.h"
#include "stoker/cli/trainer_process.h"
#include "stoker/core/atomic_file.h"
#include "stoker/core/error.h"
#include "stoker/core/stop_signals.h"
#include "stoker/report/comparison.h"
#include "stoker/report/html_page.h"
#include "stoker/report/score_text.h"
#include "stoker/run/report_file.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

struct SweepFlags {
  std::vector<std::string> vary, train;
  std::uint32_t repeat = 1;
  std::string output = "runs/sweep", slurm;
  int only = -1;
};

// Tells how each run ended and how long the others will take.
class SweepProgress {
 public:
  explicit SweepProgress(std::size_t count) : count_(count) {}

  void run_ended(const fs::path& run) {
    const RunReport report = read_run(run);
    const RunOutcome outcome = outcome_of(report);
    const ScoreText score = score_text(report.task);
    seconds_ += outcome.seconds;
    ++done_;
    show(stdout, fmt::format("{}/{}  {}  {} {}  {} s, {} samples/s{}\n", done_, count_,
                             run.filename().string(), score.label, score.value(outcome.last_score),
                             number_text(outcome.seconds), count_text(outcome.samples_per_second),
                             time_left_text(seconds_, done_, count_)));
  }

 private:
  std::size_t count_, done_ = 0;
  double seconds_ = 0;
};

// The plan of the folder, which flags may only confirm.
SweepPlan settle_plan(const SweepFlags& flags) {
  const fs::path path = fs::path(flags.output) / "sweep.json";
  const bool given = !flags.vary.empty() || !flags.train.empty() || flags.repeat != 1;
  SweepPlan plan{.axes = {}, .repeat = flags.repeat, .train_flags = flags.train};
  for (const std::string& text : flags.vary) plan.axes.push_back(parse_sweep_axis(text));
  if (!fs::exists(path)) {
    static_cast<void>(sweep_runs(plan));  // checks it
    fs::create_directories(flags.output);
    write_sweep_plan(path, plan);
    return plan;
  }
  SweepPlan there = read_sweep_plan(path);
  if (!given || there == plan) return there;
  throw Error({.what = "there is another sweep already",
               .path = path.string(),
               .expected = "the same flags, or none",
               .hint = "Choose another --output, or resume it without flags"});
}

std::string quoted_field(const std::string& text) {
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
  return field + "\"";
}

void write_table(const fs::path& folder, const SweepPlan& plan, const std::vector<SweepRun>& runs) {
  std::string text = "run";
  for (const SweepAxis& axis : plan.axes) text += "," + axis.flag;
  const std::string score = score_text(read_run(folder / runs.front().name).task).name;
  text += fmt::format(
      ",seed,epochs,last_{0},best_{0},test_{0},last_loss,seconds,samples_per_second\n", score);
  for (const SweepRun& run : runs) {
    const RunReport report = read_run(folder / run.name);
    const RunOutcome outcome = outcome_of(report);
    const auto setting = [&](const std::string& wanted) {
      for (const auto& [name, value] : report.settings) {
        if (name == wanted) return quoted_field(value);
      }
      return std::string();
    };
    text += run.name;
    for (const SweepAxis& axis : plan.axes) text += "," + setting(axis.flag);
    text += fmt::format(
        ",{},{},{:.6f},{:.6f},{},{:.6f},{:.3f},{:.1f}\n", setting("seed"), report.results.rows(),
        outcome.last_score, outcome.best_score,
        std::isfinite(outcome.test_score) ? fmt::format("{:.6f}", outcome.test_score) : "",
        outcome.last_loss, outcome.seconds, outcome.samples_per_second);
  }
  write_whole_file(folder / "sweep.csv", text, "sweep's table");
}

void compare(const fs::path& folder, const SweepPlan& plan, const std::vector<SweepRun>& runs) {
  write_table(folder, plan, runs);
  std::vector<std::string> folders;
  for (const SweepRun& run : runs) folders.push_back((folder / run.name).string());
  write_report(folders, folder / "report.html", ReportFormat::kHtml);
  show(stdout, fmt::format("table      {}\nreport     {}\n", (folder / "sweep.csv").string(),
                           (folder / "report.html").string()));
}

void run(const SweepFlags& flags) {
  const SweepPlan plan = settle_plan(flags);
  const std::vector<SweepRun> runs = sweep_runs(plan);
  const fs::path folder = flags.output;
  if (!flags.slurm.empty()) {
    write_whole_file(flags.slurm, slurm_script(program_path(), fs::absolute(folder), runs.size()),
                     "script for Slurm");
    fmt::print("{}: {} runs; start it with `sbatch {}`\n", flags.slurm, runs.size(), flags.slurm);
    return;
  }
  const StopSignals signals;
  outlive_readers();
  const std::string resume = fmt::format("stoker sweep --output {}", folder.string());
  if (flags.only >= 0) {
    if (static_cast<std::size_t>(flags.only) >= runs.size()) {
      throw Error({.what = "the sweep has no such run",
                   .expected = fmt::format("--only 0 … {}", runs.size() - 1),
                   .found = std::to_string(flags.only)});
    }
    complete_run(runs[static_cast<std::size_t>(flags.only)], folder, signals, resume);
    return;
  }
  SweepProgress progress(runs.size());
  for (const SweepRun& run : runs) {
    complete_run(run, folder, signals, resume);
    progress.run_ended(folder / run.name);
  }
  compare(folder, plan, runs);
}

}  // namespace

void add_sweep_command(const Command& parent) {
  const Command command =
      parent.add_command("sweep", "Train every combination of some settings and compare the runs");
  auto flags = std::make_shared<SweepFlags>();
  command.add_option("--vary", flags->vary, "FLAG=VALUE,VALUE of `stoker train`; may be repeated")
      .repeatable()
      .single_values();
  command
      .add_option("--repeat", flags->repeat, "runs of each combination, with seeds that count up")
      .between(1, 10'000);
  command.add_option("--output", flags->output, "folder of the sweep and its runs");
  command.add_option("--slurm", flags->slurm,
                     "run nothing; write a script for sbatch, with a task for each run");
  command.add_option("--only", flags->only, "run only this one of them, counted from 0")
      .hide_default();
  command.add_option("train", flags->train, "after --: flags of `stoker train` for all runs")
      .repeatable();
  command.footer(
      "Examples:\n"
      "  stoker sweep --vary workers=1,2,4,8 --vary aa=none,mnist --repeat 3 --output runs/r10 \\\n"
      "    -- --data fashion-mnist --model mlp:784,128,10 --epochs 15\n"
      "  stoker sweep --output runs/r10        resume it, or compare its runs again");
  command.on_run([flags] { run(*flags); });
}

}  // namespace stoker

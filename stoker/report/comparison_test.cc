#include "stoker/report/comparison.h"

#include <cmath>

#include <gtest/gtest.h>

#include "stoker/report/comparison_page.h"
#include "stoker/report/run_markdown.h"

namespace stoker {
namespace {

RunReport run_with(const std::string& name, NamedValues settings, double top1, double seconds) {
  RunReport run{.name = name, .state = "finished", .data = "d", .model = "m"};
  run.settings = std::move(settings);
  run.settings.emplace_back("experiment", name);
  run.results = {
      .columns = {"epoch", "val_top1", "val_loss", "seconds", "samples_per_second"},
      .values = {{1, 2}, {top1 / 2, top1}, {1, 0.5}, {seconds / 2, seconds / 2}, {10, 10}}};
  return run;
}

std::vector<RunReport> sweep() {
  std::vector<RunReport> runs;
  for (const char* aa : {"none", "mnist"}) {
    for (const char* workers : {"1", "2", "4"}) {
      for (const char* seed : {"0", "1"}) {
        runs.push_back(run_with(std::string(aa) + workers + seed,
                                {{"lr", "0.1"}, {"workers", workers}, {"aa", aa}, {"seed", seed}},
                                *seed == '0' ? 0.8 : 0.9, 12.0 / std::atof(workers)));
      }
    }
  }
  return runs;
}

TEST(Comparison, FindsTheSettingsThatDifferAndTakesSeedsAsRepeats) {
  const auto runs = sweep();
  const Comparison comparison = compare_runs(runs);
  EXPECT_EQ(comparison.settings, (std::vector<std::string>{"workers", "aa"}));
  ASSERT_EQ(comparison.groups.size(), 6u);
  EXPECT_EQ(comparison.groups[1].name, "workers=2, aa=none");
  EXPECT_EQ(comparison.groups[1].runs, (std::vector<std::size_t>{2, 3}));
}

TEST(Comparison, NumbersGoOnTheAxisAndWordsMakeLines) {
  const auto runs = sweep();
  const Comparison comparison = compare_runs(runs);
  ASSERT_TRUE(comparison.axis);
  EXPECT_EQ(comparison.settings[comparison.axis->setting], "workers");
  EXPECT_TRUE(comparison.axis->numeric);
  EXPECT_EQ(comparison.axis->scale, AxisScale::kLog2);
  ASSERT_EQ(comparison.axis->lines.size(), 2u);
  EXPECT_EQ(comparison.axis->lines[1].name, "aa=mnist");
  EXPECT_EQ(comparison.axis->lines[1].x, (std::vector<double>{1, 2, 4}));
}

TEST(Comparison, WordsAloneGetPlacesOnTheAxis) {
  const std::vector<RunReport> runs = {run_with("a", {{"opt", "sgd"}}, 0.5, 1),
                                       run_with("b", {{"opt", "adam"}}, 0.6, 2)};
  const Comparison comparison = compare_runs(runs);
  ASSERT_TRUE(comparison.axis);
  EXPECT_FALSE(comparison.axis->numeric);
  EXPECT_EQ(comparison.axis->names, (std::vector<std::string>{"sgd", "adam"}));
}

TEST(Comparison, FoldsOfOneDivisionMakeOneGroupWithItsSpread) {
  std::vector<RunReport> runs = {run_with("a", {{"folds", "2"}, {"fold", "0"}}, 0.5, 1),
                                 run_with("b", {{"folds", "2"}, {"fold", "1"}}, 0.7, 1)};
  runs[0].test.top1 = 0.4;
  runs[1].test.top1 = 0.8;
  const Comparison comparison = compare_runs(runs);
  ASSERT_EQ(comparison.groups.size(), 1u);
  EXPECT_EQ(comparison.groups[0].name, "2 of 2 folds");
  EXPECT_NEAR(group_spread(comparison, comparison.groups[0], &RunOutcome::best_score).mean, 0.6,
              1e-12);
  EXPECT_NE(comparison_page(runs).find("60.00 ± 28.28 %"), std::string::npos) << "of the test";
  runs[1].settings.front().second = "3";
  EXPECT_EQ(compare_runs(runs).groups.size(), 2u) << "folds of different divisions";
}

TEST(Comparison, EqualRunsStandForThemselves) {
  const std::vector<RunReport> runs = {run_with("a", {{"lr", "1"}}, 0.5, 1),
                                       run_with("b", {{"lr", "1"}}, 0.6, 2)};
  const Comparison comparison = compare_runs(runs);
  EXPECT_TRUE(comparison.settings.empty());
  EXPECT_FALSE(comparison.axis);
  EXPECT_EQ(comparison.groups.size(), 2u);
}

TEST(Comparison, TimeOfAResumedEpochIsThatOfAllItsSamples) {
  RunReport run = run_with("a", {}, 0.5, 4);
  EXPECT_DOUBLE_EQ(outcome_of(run).seconds, 4);
  run.epoch_samples = 30;  // at 10 samples/s
  EXPECT_DOUBLE_EQ(outcome_of(run).seconds, 6);
}

TEST(SpreadOf, IsMeanRangeAndDeviationOfTheFiniteValues) {
  const std::vector<double> values = {1, 3, std::nan("")};
  const Spread spread = spread_of(values);
  EXPECT_DOUBLE_EQ(spread.mean, 2);
  EXPECT_DOUBLE_EQ(spread.least, 1);
  EXPECT_DOUBLE_EQ(spread.greatest, 3);
  EXPECT_DOUBLE_EQ(spread.deviation, std::sqrt(2.0));
  EXPECT_TRUE(std::isnan(spread_of({}).mean));
}

TEST(ComparisonPage, ShowsTableAndPlotsAndEscapesSettings) {
  auto runs = sweep();
  for (RunReport& run : runs) run.settings.emplace_back("evil", "<u>" + run.name + "</u>");
  const std::string page = comparison_page(runs);
  EXPECT_EQ(page.find("<u>"), std::string::npos);
  EXPECT_NE(page.find("Against workers"), std::string::npos);
  EXPECT_NE(page.find("Training time in seconds"), std::string::npos);
}

// Two learning rates with two seeds each; R² begins far below 0.
std::vector<RunReport> regressions() {
  std::vector<RunReport> runs;
  for (const char* rate : {"0.1", "0.2"}) {
    for (const char* seed : {"0", "1"}) {
      RunReport run = run_with(std::string(rate) + seed, {{"lr", rate}, {"seed", seed}}, 0.5, 4);
      run.task = Task::kRegress;
      run.test.r2 = 0.5;
      run.results.columns[1] = "val_r2";
      run.results.columns.emplace_back("val_mae");
      run.results.values[1] = {-500, *seed == '0' ? 0.75 : 0.875};
      run.results.values.push_back({9, *seed == '0' ? 2.0 : 4.0});
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

TEST(Comparison, ComparesByTheScoreOfTheTask) {
  const auto runs = regressions();
  const Comparison comparison = compare_runs(runs);
  EXPECT_EQ(comparison.task, Task::kRegress);
  EXPECT_DOUBLE_EQ(comparison.outcomes[1].best_score, 0.875);
  EXPECT_DOUBLE_EQ(comparison.outcomes[1].test_score, 0.5);
  ASSERT_EQ(comparison.outcomes[1].more.size(), 2u);
  EXPECT_DOUBLE_EQ(comparison.outcomes[1].more[0], 4) << "MAE of the best epoch";
  EXPECT_TRUE(std::isnan(comparison.outcomes[1].more[1])) << "no RMSE";
  EXPECT_DOUBLE_EQ(more_spread(comparison, comparison.groups[0], 0).mean, 3);
}

TEST(Comparison, ARunOfAnotherTaskHasNoScore) {
  auto runs = regressions();
  runs.push_back(run_with("classes", {{"lr", "0.3"}}, 0.5, 1));
  EXPECT_TRUE(std::isnan(compare_runs(runs).outcomes.back().best_score));
  EXPECT_DOUBLE_EQ(outcome_of(runs.back()).best_score, 0.5) << "on its own it has one";
}

TEST(ComparisonPage, HasTheColumnsOfTheTask) {
  const std::string page = comparison_page(regressions());
  for (const char* text : {">last R²</th>", ">best R²</th>", ">test R²</th>", ">MAE</th>",
                           ">0.8125 ± 0.0884</td>", "Validation R²", "Last R²"}) {
    EXPECT_NE(page.find(text), std::string::npos) << text;
  }
  EXPECT_EQ(page.find("op-1"), std::string::npos);
  EXPECT_EQ(page.find(">-400</text>"), std::string::npos) << "the curve is cut at 0";
  const MarkdownReport report = comparison_markdown(regressions(), "r");
  EXPECT_NE(report.text.find("| lr | runs | last R² | best R² | test R² | MAE | RMSE |"),
            std::string::npos)
      << report.text;
  EXPECT_NE(report.text.find("0.8125 ± 0.0884 | 0.8125 ± 0.0884 | 0.5000 ± 0.0000"),
            std::string::npos);
  EXPECT_NE(report.text.find("(r_r2.png)"), std::string::npos);
}

TEST(ComparisonMarkdown, HasTheTableOfMeans) {
  const auto runs = sweep();
  const MarkdownReport report = comparison_markdown(runs, "r");
  EXPECT_NE(report.text.find("| workers | aa | runs |"), std::string::npos);
  EXPECT_NE(report.text.find("| 2 | none | 2 | 85.00 ± 7.07 |"), std::string::npos);
  EXPECT_EQ(report.images.size(), 3u);
}

}  // namespace
}  // namespace stoker

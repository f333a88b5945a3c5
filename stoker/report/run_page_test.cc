#include "stoker/report/run_page.h"

#include <cmath>

#include <gtest/gtest.h>

#include "stoker/report/run_markdown.h"
#include "stoker/report/test_text.h"

namespace stoker {
namespace {

using test::count;
using test::has;

const std::string kEvil = "<img src=x onerror=alert(1)>\"'`|";

ReportPrediction wrong_one() {
  return {.image = {.type = "png", .data = "QUJD", .width = 28, .height = 28},
          .sample = kEvil,
          .label = 0,
          .first = 1,
          .second = 0,
          .first_share = 0.9,
          .second_share = 0.1,
          .loss = 2.3};
}

// Every text that comes from a file is hostile.
RunReport full_run() {
  RunReport run{.name = kEvil, .folder = kEvil, .state = kEvil};
  run.data = run.model = run.augmentation = kEvil;
  run.warnings = {kEvil};
  run.settings = {{kEvil, kEvil}};
  run.facts = {{kEvil, {{kEvil, kEvil}}}};
  run.class_names = {kEvil, "cat"};
  run.results = {.columns = {"epoch", "step", "lr", "train_loss", "val_loss", "train_top1",
                             "val_top1", "val_ece", "seconds", "samples_per_second", kEvil},
                 .values = {{1, 2},
                            {10, 20},
                            {0.1, 0.05},
                            {2, 1},
                            {2, 1.5},
                            {0.4, 0.6},
                            {0.5, 0.7},
                            {0.1, 0.05},
                            {1, 1},
                            {100, 200},
                            {1, 2}}};
  run.steps = {.columns = {"step", "epoch", "lr", "loss", "top1"},
               .values = {{5, 10, 15, 20},
                          {1, 1, 2, 2},
                          {0.1, 0.1, 0.1, 0.05},
                          {3, 2, 1, 1},
                          {0.2, 0.4, 0.5, 0.6}}};
  run.timing = {.columns = {"epoch", "seconds", "wait", "copy", "forward", "backward", "step"},
                .values = {{1, 2}, {1, 1}, {0.1, 0}, {0, 0}, {0.3, 0.3}, {0.4, 0.4}, {0.1, 0.1}}};
  run.feed = {.read = 0.1,
              .augment = 0.4,
              .write = 0.1,
              .blocked = 0.4,
              .ring_batches = 4,
              .ring_fill = {4, 3, 4}};
  run.judged_epoch = 2;
  run.confusion = {7, 3, 0, 10};
  run.calibration = {{.samples = 5, .confidence = 0.4, .accuracy = 0.6},
                     {.samples = 15, .confidence = 0.9, .accuracy = 0.87}};
  run.top_losses = run.doubtful = {wrong_one()};
  run.batch = {{.label = 1, .before = wrong_one().image, .after = wrong_one().image}};
  return run;
}

TEST(RunPage, ShowsEverySection) {
  const std::string page = run_page(full_run());
  for (const char* id : {"curves", "classes", "calibration", "losses", "doubts", "batch", "time",
                         "settings", "machine"}) {
    EXPECT_TRUE(has(page, std::string("<section id=\"") + id)) << id;
    EXPECT_TRUE(has(page, std::string("href=\"#") + id)) << id;
  }
}

TEST(RunPage, NoTextOfAFileBecomesMarkup) {
  const std::string page = run_page(full_run());
  EXPECT_FALSE(has(page, "<img src=x"));
  EXPECT_FALSE(has(page, "onerror=alert(1)>"));
  EXPECT_TRUE(has(page, "&lt;img src=x onerror=alert(1)&gt;&quot;&#39;"));
}

TEST(RunPage, SaysWhatWasTakenForWhat) {
  const std::string page = run_page(full_run());
  EXPECT_TRUE(has(page, "<b class=\"bad\">cat</b> 90&nbsp;%"));
  EXPECT_TRUE(has(page, "src=\"data:image/png;base64,QUJD\""));
  EXPECT_TRUE(has(page, ">10</td>"));         // of the confusion matrix
  EXPECT_TRUE(has(page, "70.00 %"));          // best top-1
  EXPECT_TRUE(has(page, "class=\"stack\""));  // time
}

TEST(RunPage, ShowsWhatFetchingTookWhereThatIsKnown) {
  RunReport run = full_run();
  run.feed.store = 0.125;
  EXPECT_TRUE(has(run_page(run), "fetching"));
  EXPECT_TRUE(has(run_page(run), "12.50 %"));
  run.feed.store = std::nan("");
  EXPECT_FALSE(has(run_page(run), "fetching"));
}

TEST(RunPage, ShowsTheRanksOfARunThatHadSeveral) {
  RunReport run = full_run();
  EXPECT_FALSE(has(run_page(run), "id=\"ranks\""));
  EXPECT_FALSE(has(run_markdown(run, "r").text, "## Ranks"));
  run.ranks = {.columns = {"epoch", "ranks", "slowest", "slowest_seconds", "mean_seconds",
                           "reduced_bytes", "reduction_seconds", "exposed_seconds"},
               .values = {{1}, {4}, {2}, {15}, {12}, {123e6}, {3.5}, {0.75}}};
  for (const std::string& text : {run_page(run), run_markdown(run, "r").text}) {
    EXPECT_TRUE(has(text, "slowest rank"));
    EXPECT_TRUE(has(text, "25.00 %"));  // behind the mean
    EXPECT_TRUE(has(text, "123"));      // MB
  }
}

// A run of three seconds that spent two minutes on its features took two minutes.
TEST(RunPage, CountsTheTimeOfMakingFeatures) {
  RunReport run = full_run();
  run.timing.columns.emplace_back("features_seconds");
  run.timing.values.push_back({118, 0});
  const std::string page = run_page(run);
  EXPECT_TRUE(has(page, "making features"));
  EXPECT_TRUE(has(page, "2 min 0 s")) << "1 s for each of two epochs, and 118 s";
  EXPECT_TRUE(has(run_markdown(run, "r").text, "Making features took"));
}

TEST(RunPage, ARunWithLittleIsAPageWithLittle) {
  RunReport run{.name = "bare"};
  run.results = {.columns = {"epoch", "val_top1"}, .values = {{1}, {0.5}}};
  const std::string page = run_page(run);
  EXPECT_TRUE(has(page, "id=\"curves\""));
  EXPECT_FALSE(has(page, "id=\"classes\""));
  EXPECT_FALSE(has(page, "id=\"time\""));
  EXPECT_TRUE(has(run_page({}), "</html>"));
}

TEST(RunPage, ManyClassesAreAnImage) {
  RunReport run = full_run();
  run.class_names.assign(40, "c");
  run.confusion.assign(1600, 1);
  EXPECT_FALSE(has(run_page(run), "class=\"confusion\""));
  EXPECT_TRUE(has(run_page(run), "alt=\"Confusion matrix"));
}

// Two epochs of another task; every text that comes from a file is hostile.
RunReport run_of(Task task) {
  RunReport run = full_run();
  run.task = task;
  run.confusion = {};
  run.calibration = {};
  run.doubtful = {};
  run.top_losses[0].truth_text = run.top_losses[0].prediction_text = kEvil;
  run.batch[0].label_text = kEvil;
  const bool labels = task == Task::kMultilabel;
  run.results = {.columns = {"epoch", "train_loss", "val_loss", labels ? "val_map" : "val_r2",
                             labels ? "val_micro_f1" : "val_mae",
                             labels ? "val_macro_f1" : "val_rmse", "seconds"},
                 .values = {{1, 2}, {2, 1}, {2, 1.5}, {-3, 0.75}, {12, 0.125}, {16, 0.25}, {1, 1}}};
  run.test = {.samples = 10, .epoch = 2, .map = 0.625, .r2 = 0.5625};
  return run;
}

RunReport labels_run() {
  RunReport run = run_of(Task::kMultilabel);
  run.classes = {
      {8, 9, 0.5, 0.75, 0.8125, 0.9375, 0.4375},
      {.support = 0, .precision = kNotDefined, .recall = kNotDefined, .f1 = kNotDefined}};
  return run;
}

RunReport numbers_run() {
  RunReport run = run_of(Task::kRegress);
  run.targets = {{.mae = 3.25, .rmse = 4.5, .r2 = 0.875}, {.mae = 100, .rmse = 200}};
  run.numbers = {.truth = {1, 1000, 2, 2000, 3, 3000},
                 .predicted = {1.5F, 900, 2, 2100, 2.5F, NAN}};
  return run;
}

TEST(RunPage, SeveralLabelsHaveATableOfClassesInsteadOfAMatrix) {
  const std::string page = run_page(labels_run());
  EXPECT_TRUE(has(page, "href=\"#classes\""));
  EXPECT_FALSE(has(page, "class=\"confusion\""));
  EXPECT_TRUE(has(page, ">AP</th>"));
  for (const char* text : {">8</td>", ">93.75 %</td>", ">0.4375</td>", ">50.00 %</td>",
                           ">75.00 %</td>", ">0.8125</td>", ">–</td>"}) {
    EXPECT_TRUE(has(page, text)) << text;
  }
  EXPECT_FALSE(has(page, "<img src=x"));
  EXPECT_FALSE(has(page, ">nan"));
}

TEST(RunPage, ARegressionHasPlotsAndATableOfTargets) {
  const std::string page = run_page(numbers_run());
  EXPECT_TRUE(has(page, "href=\"#targets\""));
  EXPECT_FALSE(has(page, "id=\"classes\""));
  for (const char* text : {">0.8750</td>", ">3.25</td>", ">4.5</td>", ">–</td>",
                           "predicted against true", "class=\"series points c0\""}) {
    EXPECT_TRUE(has(page, text)) << text;
  }
  EXPECT_EQ(count(page, "r=\"2.4\""), 5u) << "the pair with NaN has no point";
  EXPECT_FALSE(has(page, "<img src=x"));
  EXPECT_FALSE(has(page, ">nan"));
}

TEST(RunPage, TilesAndCurvesAreThoseOfTheTask) {
  const std::string labels = run_page(labels_run()), numbers = run_page(numbers_run());
  EXPECT_TRUE(has(labels, "<b>62.50 %</b><span>test mAP, weights of epoch 2"));
  EXPECT_TRUE(has(labels, "<b>75.00 %</b><span>best validation mAP, epoch 2"));
  EXPECT_TRUE(has(labels, "<b>0.125</b><span>validation micro F1, epoch 2"));
  EXPECT_TRUE(has(labels, "<figcaption>Validation F1</figcaption>"));
  EXPECT_TRUE(has(numbers, "<b>0.5625</b><span>test R², weights of epoch 2"));
  EXPECT_TRUE(has(numbers, "<b>0.7500</b><span>best validation R², epoch 2"));
  EXPECT_TRUE(has(numbers, "<b>0.125</b><span>validation MAE, epoch 2"));
  EXPECT_TRUE(has(numbers, "<b>0.25</b><span>validation RMSE, epoch 2"));
  EXPECT_TRUE(has(numbers, "<figcaption>R²</figcaption>"));
  EXPECT_TRUE(has(numbers, "<figcaption>Validation errors</figcaption>"));
  for (const std::string& page : {labels, numbers}) EXPECT_FALSE(has(page, "op-1"));
}

TEST(RunPage, TextStandsForPredictionsThatAreNotOneClass) {
  RunReport run = numbers_run();
  run.top_losses[0].truth_text = "12.5";
  run.top_losses[0].prediction_text = "44.1";
  EXPECT_TRUE(has(run_page(run), "<b>44.1</b><span>is 12.5</span><span>loss 2.3</span>"));
}

TEST(RunPage, OtherTasksWithLittleArePagesWithLittle) {
  for (const Task task : {Task::kMultilabel, Task::kRegress}) {
    RunReport run{.name = "bare", .task = task};
    EXPECT_TRUE(has(run_page(run), "</html>"));
    run.class_names = {"a"};  // without figures
    run.numbers.truth = {1, 2};
    EXPECT_FALSE(has(run_page(run), "<section"));
    EXPECT_TRUE(run_markdown(run, "r").images.empty());
    run.targets = {{.mae = 1}};
    EXPECT_FALSE(has(run_page(run), "<circle")) << "truth without predictions";
  }
}

TEST(RunMarkdown, HasTheTablesAndPlotsOfOtherTasks) {
  const MarkdownReport labels = run_markdown(labels_run(), "r");
  EXPECT_TRUE(has(labels.text, "Best validation mAP 75.00 %"));
  EXPECT_TRUE(has(labels.text, "Test mAP 62.50 % on 10 samples"));
  EXPECT_TRUE(has(labels.text, "| class | samples | AP | threshold | precision | recall | F1 |"));
  EXPECT_TRUE(has(labels.text, "| 8 | 93.75 % | 0.4375 | 50.00 % | 75.00 % | 0.8125 |"));
  EXPECT_TRUE(has(labels.text, "| 0 | – | – | – | – | – |"));
  EXPECT_TRUE(has(labels.text, "(r_map.png)"));
  const MarkdownReport numbers = run_markdown(numbers_run(), "r");
  EXPECT_TRUE(has(numbers.text, "Best validation R² 0.7500"));
  EXPECT_TRUE(has(numbers.text, "| 0.8750 | 3.25 | 4.5 |"));
  for (const char* file : {"(r_loss.png)", "(r_r2.png)", "(r_target1.png)", "(r_target2.png)"}) {
    EXPECT_TRUE(has(numbers.text, file)) << file;
  }
  EXPECT_EQ(numbers.images.size(), 4u);
  EXPECT_FALSE(has(numbers.text, " <img"));
}

TEST(RunMarkdown, HasTablesAndImagesAndNoMarkupOfFiles) {
  const MarkdownReport report = run_markdown(full_run(), "r");
  EXPECT_TRUE(has(report.text, "| class | samples | precision | recall | F1 |"));
  EXPECT_TRUE(has(report.text, "![Loss](r_loss.png)"));
  EXPECT_EQ(report.images.size(), 3u);
  EXPECT_FALSE(has(report.text, " <img"));
  EXPECT_TRUE(has(report.text, " \\<img"));
}

}  // namespace
}  // namespace stoker

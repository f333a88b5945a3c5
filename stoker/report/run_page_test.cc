#include "stoker/report/run_page.h"

#include <cmath>

#include <gtest/gtest.h>

#include "stoker/report/run_markdown.h"
#include "stoker/report/test_text.h"

namespace stoker {
namespace {

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

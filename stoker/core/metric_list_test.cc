#include "stoker/core/metric_list.h"

#include <limits>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stoker {
namespace {

using testing::HasSubstr;

// No two numbers are the same, so that none can stand in another's place.
const MetricsResult kResult = {
    .samples = 60'000,
    .skipped = 2,
    .loss = 0.0712345678,
    .top1 = 0.978512345,
    .top_k = 0.99951,
    .calibration_error = 0.0123,
    .macro_precision = 0.975,
    .macro_recall = 0.9625,
    .macro_f1 = 0.96875,
    .classes = {{8, 3, 1.0, 0.375, 0.5}, {1, 4, 0.25, 1.0, 0.4}, {0, 1, 0.0, 0.0, 0.0}}};

const EpochNumbers kEpoch = {.epoch = 4,
                             .step = 2'345,
                             .rate = 0.00625,
                             .train_loss = 0.25,
                             .train_top1 = 0.9375,
                             .validation = kResult,
                             .seconds = 12.34567,
                             .samples_per_second = 4861.5,
                             .wait_share = 0.01234,
                             .validation_seconds = 1.5};

// As JSON has them, in which a double is written with the digits that it needs.
std::string json(const NamedNumbers& numbers) {
  std::string text;
  for (const auto& [name, value] : numbers) text += fmt::format("\"{}\":{},", name, value);
  return text;
}

constexpr Task kAllTasks[] = {Task::kClassify, Task::kMultilabel, Task::kRegress};

TEST(MetricList, NamesAndLabelsAreUniqueInATask) {
  for (const Task task : kAllTasks) {
    std::set<std::string> names, labels;
    for (const Metric& one : metric_list(task)) {
      EXPECT_TRUE(names.insert(one.name).second) << one.name;
      EXPECT_TRUE(labels.insert(one.label).second) << one.label;
      EXPECT_NE(one.value, nullptr) << one.name;
    }
  }
}

// So that column_format() and labelled() need no task.
TEST(MetricList, AMetricLooksTheSameInAllItsTasks) {
  std::map<std::string, std::string> looks;
  for (const Task task : kAllTasks) {
    for (const Metric& one : metric_list(task)) {
      const std::string look = fmt::format("{} {}", one.label, static_cast<int>(one.style));
      EXPECT_EQ(looks.try_emplace(one.name, look).first->second, look) << one.name;
    }
  }
}

TEST(MetricList, ResultsAreThisTable) {
  EXPECT_EQ(results_header(5),
            "epoch,step,lr,train_loss,train_top1,val_loss,val_top1,val_top5,val_macro_f1,val_ece,"
            "seconds,val_seconds,samples_per_second,wait_share,val_samples");
  EXPECT_EQ(results_row(kEpoch),
            "5,2345,0.00625,0.250000,0.937500,0.071235,0.978512,0.999510,0.968750,0.012300,"
            "12.346,1.500,4862,0.0123,60000");
}

TEST(MetricList, TheHeaderNamesTheKOfTopK) {
  EXPECT_THAT(results_header(3), HasSubstr(",val_top1,val_top3,val_macro_f1,"));
  EXPECT_THAT(results_header(10), HasSubstr(",val_top1,val_top10,val_macro_f1,"));
}

// Beyond 2^24, where a float would round; and a rate that needs 17 digits.
TEST(MetricList, CountsAndRatesKeepTheirDigits) {
  EpochNumbers epoch = kEpoch;
  epoch.step = 12'345'678'901;
  epoch.rate = 0.1 + 0.2;
  EXPECT_THAT(results_row(epoch), HasSubstr("5,12345678901,0.30000000000000004,"));
}

TEST(MetricList, WhatIsNotDefinedStaysVisible) {
  EpochNumbers epoch = kEpoch;
  epoch.validation.loss = std::numeric_limits<double>::quiet_NaN();
  epoch.train_loss = std::numeric_limits<double>::infinity();
  EXPECT_THAT(results_row(epoch), HasSubstr(",inf,0.937500,nan,0.978512,"));
}

TEST(MetricList, TensorBoardHasTheseTagsOfAnEpoch) {
  EXPECT_EQ(json(epoch_tags(kEpoch)),
            "\"loss/train\":0.25,\"loss/val\":0.0712345678,\"top1/train\":0.9375,"
            "\"top1/val\":0.978512345,\"topk/val\":0.99951,\"macro_f1/val\":0.96875,"
            "\"ece/val\":0.0123,\"lr\":0.00625,\"speed/samples_per_second\":4861.5,"
            "\"speed/wait_share\":0.01234,\"speed/epoch_seconds\":12.34567,");
}

TEST(MetricList, TensorBoardHasTheseTagsOfATest) {
  EXPECT_EQ(json(test_tags(kResult)), "\"top1/test\":0.978512345,\"loss/test\":0.0712345678,");
}

TEST(MetricList, ATestIsThisJson) {
  EXPECT_EQ(json(metric_values(kResult, 5, &MetricPlaces::test)),
            "\"top1\":0.978512345,\"top5\":0.99951,\"loss\":0.0712345678,\"macro_f1\":0.96875,"
            "\"ece\":0.0123,");
}

TEST(MetricList, AnEvaluationIsThisJson) {
  EXPECT_EQ(json(metric_values(kResult, 3, &MetricPlaces::eval_head)),
            "\"top1\":0.978512345,\"top3\":0.99951,\"loss\":0.0712345678,");
  EXPECT_EQ(json(metric_values(kResult, 3, &MetricPlaces::eval)),
            "\"ece\":0.0123,\"macro_precision\":0.975,\"macro_recall\":0.9625,"
            "\"macro_f1\":0.96875,");
}

TEST(MetricList, AnEvaluationIsTheseLines) {
  EXPECT_EQ(metric_lines(kResult, 5),
            "loss       0.0712\n"
            "top-1      97.85 %\n"
            "top-5      99.95 %\n"
            "macro F1   0.9688\n"
            "ECE        0.0123\n");
  EXPECT_THAT(metric_lines(kResult, 10), HasSubstr("\ntop-10      99.95 %\n"));
}

TEST(MetricList, ASentenceHasAMetricWithItsLabel) {
  EXPECT_EQ(labelled(metric_name::kTop1, 0.97854), "top-1 97.85 %");
  EXPECT_EQ(labelled(metric_name::kLoss, 0.07123), "loss 0.0712");
}

TEST(MetricList, ReportsKnowHowToShowEachColumn) {
  for (const char* name : {"train_top1", "val_top1", "val_top5", "val_top10", "wait_share"}) {
    EXPECT_EQ(column_format(name).style, NumberStyle::kPercent) << name;
  }
  for (const char* name : {"epoch", "step", "samples_per_second"}) {
    EXPECT_EQ(column_format(name).style, NumberStyle::kCount) << name;
  }
  for (const char* name :
       {"lr", "val_loss", "val_macro_f1", "val_ece", "seconds", "val_samples", "val_top",
        "val_topmost", "val_top{k}", "top", "", "of another program"}) {
    EXPECT_EQ(column_format(name).style, NumberStyle::kNumber) << name;
  }
}

TEST(MetricList, ASummaryHasSevenColumns) {
  std::string summary;
  std::string header = results_header(5) + ",";
  for (std::size_t comma = header.find(','); comma != std::string::npos; comma = header.find(',')) {
    const std::string name = header.substr(0, comma);
    if (column_format(name).in_summary) summary += name + " ";
    header.erase(0, comma + 1);
  }
  EXPECT_EQ(summary, "epoch train_loss train_top1 val_loss val_top1 seconds samples_per_second ");
}

TEST(MetricList, EveryColumnThatCodeAsksForIsWritten) {
  const std::string header = "," + results_header(5) + ",";
  for (const char* name :
       {column_name::kEpoch, column_name::kStep, column_name::kRate, column_name::kTrainLoss,
        column_name::kTrainTop1, column_name::kValLoss, column_name::kValTop1,
        column_name::kSeconds, column_name::kSamplesPerSecond, column_name::kWaitShare}) {
    EXPECT_THAT(header, HasSubstr("," + std::string(name) + ",")) << name;
  }
}

// Every number differs from the others here too.
const EpochNumbers kMultilabelEpoch = {.epoch = 4,
                                       .step = 2'345,
                                       .rate = 0.00625,
                                       .train_loss = 0.25,
                                       .validation = {.task = Task::kMultilabel,
                                                      .samples = 60'000,
                                                      .loss = 0.0712345678,
                                                      .macro_precision = 0.975,
                                                      .macro_recall = 0.9625,
                                                      .macro_f1 = 0.96875,
                                                      .mean_average_precision = 0.8765432,
                                                      .micro_f1 = 0.90625,
                                                      .exact_match = 0.78125},
                                       .seconds = 12.34567,
                                       .samples_per_second = 4861.5,
                                       .wait_share = 0.01234,
                                       .validation_seconds = 1.5};

TEST(MetricList, SeveralLabelsHaveTheirOwnOutputs) {
  const MetricsResult& result = kMultilabelEpoch.validation;
  EXPECT_EQ(results_header(5, Task::kMultilabel),
            "epoch,step,lr,train_loss,val_loss,val_map,val_micro_f1,val_macro_f1,val_exact_match,"
            "seconds,val_seconds,samples_per_second,wait_share,val_samples");
  EXPECT_EQ(results_row(kMultilabelEpoch),
            "5,2345,0.00625,0.250000,0.071235,0.876543,0.906250,0.968750,0.781250,"
            "12.346,1.500,4862,0.0123,60000");
  EXPECT_EQ(json(epoch_tags(kMultilabelEpoch)),
            "\"loss/train\":0.25,\"loss/val\":0.0712345678,\"map/val\":0.8765432,"
            "\"micro_f1/val\":0.90625,\"macro_f1/val\":0.96875,\"exact_match/val\":0.78125,"
            "\"lr\":0.00625,\"speed/samples_per_second\":4861.5,\"speed/wait_share\":0.01234,"
            "\"speed/epoch_seconds\":12.34567,");
  EXPECT_EQ(json(test_tags(result)),
            "\"map/test\":0.8765432,\"loss/test\":0.0712345678,\"micro_f1/test\":0.90625,"
            "\"macro_f1/test\":0.96875,");
  EXPECT_EQ(json(metric_values(result, 5, &MetricPlaces::test)),
            "\"map\":0.8765432,\"loss\":0.0712345678,\"micro_f1\":0.90625,\"macro_f1\":0.96875,"
            "\"exact_match\":0.78125,");
  EXPECT_EQ(json(metric_values(result, 5, &MetricPlaces::eval_head)),
            "\"map\":0.8765432,\"loss\":0.0712345678,");
  EXPECT_EQ(json(metric_values(result, 5, &MetricPlaces::eval)),
            "\"micro_f1\":0.90625,\"macro_f1\":0.96875,\"exact_match\":0.78125,"
            "\"macro_precision\":0.975,\"macro_recall\":0.9625,");
  EXPECT_EQ(metric_lines(result, 5),
            "loss       0.0712\n"
            "mAP        87.65 %\n"
            "micro F1   0.9062\n"
            "macro F1   0.9688\n"
            "exact      78.12 %\n");
  EXPECT_EQ(labelled(metric_name::kMap, 0.97854), "mAP 97.85 %");
}

TEST(MetricList, RegressionHasItsOwnOutputs) {
  EpochNumbers epoch = kMultilabelEpoch;
  epoch.validation = {.task = Task::kRegress,
                      .samples = 60'000,
                      .loss = 0.0712345678,
                      .mae = 3.25,
                      .rmse = 4.125,
                      .r2 = 0.98765432};
  EXPECT_EQ(results_header(5, Task::kRegress),
            "epoch,step,lr,train_loss,val_loss,val_r2,val_mae,val_rmse,"
            "seconds,val_seconds,samples_per_second,wait_share,val_samples");
  EXPECT_EQ(results_row(epoch),
            "5,2345,0.00625,0.250000,0.071235,0.987654,3.250000,4.125000,"
            "12.346,1.500,4862,0.0123,60000");
  EXPECT_EQ(json(epoch_tags(epoch)),
            "\"loss/train\":0.25,\"loss/val\":0.0712345678,\"r2/val\":0.98765432,"
            "\"mae/val\":3.25,\"rmse/val\":4.125,\"lr\":0.00625,"
            "\"speed/samples_per_second\":4861.5,\"speed/wait_share\":0.01234,"
            "\"speed/epoch_seconds\":12.34567,");
  const char* values = "\"r2\":0.98765432,\"mae\":3.25,\"rmse\":4.125,\"loss\":0.0712345678,";
  EXPECT_EQ(json(metric_values(epoch.validation, 5, &MetricPlaces::test)), values);
  EXPECT_EQ(json(metric_values(epoch.validation, 5, &MetricPlaces::eval_head)), values);
  EXPECT_EQ(json(metric_values(epoch.validation, 5, &MetricPlaces::eval)), "");
  EXPECT_EQ(metric_lines(epoch.validation, 5),
            "loss       0.0712\n"
            "R²         0.9877\n"
            "MAE        3.2500\n"
            "RMSE       4.1250\n");
}

TEST(MetricList, TheBestEpochIsChosenByTheTasksScore) {
  EXPECT_EQ(kResult.score(), kResult.top1);
  EXPECT_EQ(kMultilabelEpoch.validation.score(), 0.8765432);
  EXPECT_EQ((MetricsResult{.task = Task::kRegress, .r2 = -3}).score(), -3);
  EXPECT_EQ((MetricsResult{.task = Task::kRegress}).score(),
            -std::numeric_limits<double>::infinity());
  EXPECT_EQ(score_column(Task::kClassify), column_name::kValTop1);
  EXPECT_EQ(score_column(Task::kMultilabel), "val_map");
  EXPECT_EQ(score_column(Task::kRegress), "val_r2");
  EXPECT_EQ(score_metric(Task::kRegress).value({.r2 = 0.5}), 0.5);
}

TEST(MetricList, ReportsKnowTheColumnsOfEveryTask) {
  EXPECT_EQ(column_format("val_map").style, NumberStyle::kPercent);
  EXPECT_EQ(column_format("val_r2").style, NumberStyle::kNumber);
  for (const char* name : {"val_map", "val_micro_f1", "val_r2", "val_mae", "val_rmse"}) {
    EXPECT_TRUE(column_format(name).in_summary) << name;
  }
}

}  // namespace
}  // namespace stoker

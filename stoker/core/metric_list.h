// The list of metrics: every number of an evaluation and of an epoch once for each task that has
// it, with its name, value and format. results.csv, TensorBoard's scalars, log.jsonl, the test in
// run.json, `stoker eval` and reports are made from it; CONTRIBUTING.md says how to add a metric.
// It is in `core` because reports read what training wrote and must not depend on it. Constants and
// plain functions: safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/core/metrics_result.h"

namespace stoker {

// How people read a number: 0.0712, 97.85 %, 60,000.
enum class NumberStyle { kNumber, kPercent, kCount };

// Where a metric stands in each output, counted from 1; 0: not there; kLast: behind all that have a
// number, in the order of the list. Numbers keep the order that files had before this list, since
// their readers may count columns.
struct MetricPlaces {
  static constexpr int kLast = 1 << 20;
  int results = kLast;    // results.csv, as val_NAME
  int tags = kLast;       // TensorBoard and log.jsonl after each epoch, as NAME/val
  int test = kLast;       // run.json and log.jsonl, of the test at the end of a run
  int test_tags = kLast;  // TensorBoard, of that test, as NAME/test
  int eval_head = 0;      // `stoker eval --json`, before what says of which data
  int eval = kLast;       // `stoker eval --json`, after that
  int text = kLast;       // `stoker eval`
};
using MetricOutput = int MetricPlaces::*;

struct Metric {
  const char* name;   // "{k}" is the k of the top-k accuracy
  const char* label;  // for people, likewise; at most 10 characters
  NumberStyle style = NumberStyle::kNumber;
  double (*value)(const MetricsResult&) = nullptr;
  MetricPlaces places = {};
  bool in_summary = false;  // in the short table of a Markdown report
};
// A name that several tasks have means the same number and looks the same in all of them.
[[nodiscard]] std::span<const Metric> metric_list(Task task = Task::kClassify);
// That of MetricsResult::score(), and its column of results.csv: top-1, mAP or R².
[[nodiscard]] const Metric& score_metric(Task task);
[[nodiscard]] std::string score_column(Task task);

// Names of metrics and columns that code asks for. The list uses the same constants.
namespace metric_name {
inline constexpr const char* kLoss = "loss";
inline constexpr const char* kTop1 = "top1";
inline constexpr const char* kMap = "map";
inline constexpr const char* kMicroF1 = "micro_f1";
inline constexpr const char* kR2 = "r2";
inline constexpr const char* kMae = "mae";
inline constexpr const char* kRmse = "rmse";
}  // namespace metric_name
namespace column_name {
inline constexpr const char* kEpoch = "epoch";
inline constexpr const char* kStep = "step";
inline constexpr const char* kRate = "lr";
inline constexpr const char* kTrainLoss = "train_loss";
inline constexpr const char* kTrainTop1 = "train_top1";
inline constexpr const char* kValLoss = "val_loss";
inline constexpr const char* kValTop1 = "val_top1";
inline constexpr const char* kSeconds = "seconds";
inline constexpr const char* kSamplesPerSecond = "samples_per_second";
inline constexpr const char* kWaitShare = "wait_share";
}  // namespace column_name

// results.csv, without ends of lines. Only kClassify has train_top1 and a k. Functions that take a
// result give the metrics of its task.
[[nodiscard]] std::string results_header(std::int64_t top_k, Task task = Task::kClassify);
[[nodiscard]] std::string results_row(const EpochNumbers& epoch);

using NamedNumbers = std::vector<std::pair<std::string, double>>;
// Of an epoch, as TensorBoard and log.jsonl call them.
[[nodiscard]] NamedNumbers epoch_tags(const EpochNumbers& epoch);
// Of the test at the end of a run, as TensorBoard calls them.
[[nodiscard]] NamedNumbers test_tags(const MetricsResult& result);
// Metrics of one output, with their plain names, as JSON has them.
[[nodiscard]] NamedNumbers metric_values(const MetricsResult& result, std::int64_t top_k,
                                         MetricOutput output);

// "top-1 97.85 %": a metric of any task, by its name, with this value.
[[nodiscard]] std::string labelled(std::string_view name, double value);
// "top-1      97.85 %\n" for each metric of MetricPlaces::text.
[[nodiscard]] std::string metric_lines(const MetricsResult& result, std::int64_t top_k);

// How reports show a column of results.csv. The defaults are for one that the list does not have.
struct ColumnFormat {
  NumberStyle style = NumberStyle::kNumber;
  bool in_summary = false;  // as Metric::in_summary
};
[[nodiscard]] ColumnFormat column_format(std::string_view name);

}  // namespace stoker

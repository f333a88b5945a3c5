#include "stoker/core/metric_list.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/invariant.h"

namespace stoker {
namespace {

using enum NumberStyle;

// A new metric goes to the end of its task's list and needs no places: it then appears in every
// output, behind what is there.
constexpr auto kClassifyMetrics = std::to_array<Metric>({
    {.name = metric_name::kLoss,
     .label = "loss",
     .value = [](const MetricsResult& r) { return r.loss; },
     .places = {.results = 6, .tags = 2, .test = 3, .test_tags = 2, .eval_head = 3, .eval = 0},
     .in_summary = true},
    {.name = metric_name::kTop1,
     .label = "top-1",
     .style = kPercent,
     .value = [](const MetricsResult& r) { return r.top1; },
     .places = {.results = 7, .tags = 4, .test = 1, .test_tags = 1, .eval_head = 1, .eval = 0},
     .in_summary = true},
    {.name = "top{k}",
     .label = "top-{k}",
     .style = kPercent,
     .value = [](const MetricsResult& r) { return r.top_k; },
     .places = {.results = 8, .tags = 5, .test = 2, .test_tags = 0, .eval_head = 2, .eval = 0}},
    {.name = "macro_f1",
     .label = "macro F1",
     .value = [](const MetricsResult& r) { return r.macro_f1; },
     .places = {.results = 9, .tags = 6, .test = 4, .test_tags = 0, .eval = 4}},
    {.name = "ece",
     .label = "ECE",
     .value = [](const MetricsResult& r) { return r.calibration_error; },
     .places = {.results = 10, .tags = 7, .test = 5, .test_tags = 0, .eval = 1}},
    {.name = "macro_precision",
     .label = "precision",
     .value = [](const MetricsResult& r) { return r.macro_precision; },
     .places = {.results = 0, .tags = 0, .test = 0, .test_tags = 0, .eval = 2, .text = 0}},
    {.name = "macro_recall",
     .label = "recall",
     .value = [](const MetricsResult& r) { return r.macro_recall; },
     .places = {.results = 0, .tags = 0, .test = 0, .test_tags = 0, .eval = 3, .text = 0}},
});

constexpr auto kMultilabelMetrics = std::to_array<Metric>({
    {.name = metric_name::kLoss,
     .label = "loss",
     .value = [](const MetricsResult& r) { return r.loss; },
     .places = {.results = 6, .tags = 2, .test = 2, .test_tags = 2, .eval_head = 2, .eval = 0},
     .in_summary = true},
    {.name = metric_name::kMap,
     .label = "mAP",
     .style = kPercent,
     .value = [](const MetricsResult& r) { return r.mean_average_precision; },
     .places = {.results = 7, .tags = 3, .test = 1, .test_tags = 1, .eval_head = 1, .eval = 0},
     .in_summary = true},
    {.name = metric_name::kMicroF1,
     .label = "micro F1",
     .value = [](const MetricsResult& r) { return r.micro_f1; },
     .places = {.results = 8, .tags = 4, .test = 3, .test_tags = 3, .eval = 1},
     .in_summary = true},
    {.name = "macro_f1",
     .label = "macro F1",
     .value = [](const MetricsResult& r) { return r.macro_f1; },
     .places = {.results = 9, .tags = 5, .test = 4, .test_tags = 4, .eval = 2}},
    {.name = "exact_match",
     .label = "exact",
     .style = kPercent,
     .value = [](const MetricsResult& r) { return r.exact_match; },
     .places = {.results = 10, .tags = 6, .test = 5, .test_tags = 0, .eval = 3}},
    {.name = "macro_precision",
     .label = "precision",
     .value = [](const MetricsResult& r) { return r.macro_precision; },
     .places = {.results = 0, .tags = 0, .test = 0, .test_tags = 0, .eval = 4, .text = 0}},
    {.name = "macro_recall",
     .label = "recall",
     .value = [](const MetricsResult& r) { return r.macro_recall; },
     .places = {.results = 0, .tags = 0, .test = 0, .test_tags = 0, .eval = 5, .text = 0}},
});

constexpr auto kRegressMetrics = std::to_array<Metric>({
    {.name = metric_name::kLoss,
     .label = "loss",
     .value = [](const MetricsResult& r) { return r.loss; },
     .places = {.results = 6, .tags = 2, .test = 4, .test_tags = 4, .eval_head = 4, .eval = 0},
     .in_summary = true},
    {.name = metric_name::kR2,
     .label = "R²",
     .value = [](const MetricsResult& r) { return r.r2; },
     .places = {.results = 7, .tags = 3, .test = 1, .test_tags = 1, .eval_head = 1, .eval = 0},
     .in_summary = true},
    {.name = metric_name::kMae,
     .label = "MAE",
     .value = [](const MetricsResult& r) { return r.mae; },
     .places = {.results = 8, .tags = 4, .test = 2, .test_tags = 2, .eval_head = 2, .eval = 0},
     .in_summary = true},
    {.name = metric_name::kRmse,
     .label = "RMSE",
     .value = [](const MetricsResult& r) { return r.rmse; },
     .places = {.results = 9, .tags = 5, .test = 3, .test_tags = 3, .eval_head = 3, .eval = 0},
     .in_summary = true},
});

constexpr std::array kTasks = {Task::kClassify, Task::kMultilabel, Task::kRegress};

constexpr int kShortest = -1;  // as many digits as say which double it is

constexpr std::string_view kK = "{k}";
constexpr int kMetricDigits = 6;         // in results.csv
constexpr std::size_t kLabelWidth = 11;  // in the text of `stoker eval`, with the gap behind it
constexpr bool labels_fit(std::span<const Metric> metrics) {
  return std::ranges::all_of(metrics, [](const Metric& metric) {
    return std::string_view(metric.label).size() < kLabelWidth;
  });
}
static_assert(labels_fit(kClassifyMetrics) && labels_fit(kMultilabelMetrics) &&
              labels_fit(kRegressMetrics));

std::string with_k(std::string_view text, std::string_view k) {
  std::string out(text);
  if (const auto at = out.find(kK); at != std::string::npos) out.replace(at, kK.size(), k);
  return out;
}

std::string field(double value, int digits) {
  return digits == kShortest ? fmt::format("{}", value) : fmt::format("{:.{}f}", value, digits);
}

std::string styled(const Metric& metric, double value) {
  return metric.style == kPercent ? fmt::format("{:.2f} %", 100 * value)
                                  : fmt::format("{:.4f}", value);
}

// A number that is written after an epoch. Places are as in MetricPlaces.
struct EpochColumn {
  std::string name;
  std::string tag = {};
  int digits = 0;  // in results.csv
  NumberStyle style = kNumber;
  std::function<double(const EpochNumbers&)> value = {};
  int results = 0, tags = 0;
  bool in_summary = false;
};

// In letters: those of "R²" are two, of three bytes.
std::size_t letters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](unsigned char c) { return (c & 0xC0) != 0x80; }));
}

std::vector<EpochColumn> columns_besides_metrics() {
  return {
      {.name = column_name::kEpoch,
       .style = kCount,
       .value = [](const EpochNumbers& e) { return static_cast<double>(e.epoch) + 1; },
       .results = 1,
       .in_summary = true},
      {.name = column_name::kStep,
       .style = kCount,
       .value = [](const EpochNumbers& e) { return static_cast<double>(e.step); },
       .results = 2},
      {.name = column_name::kRate,
       .tag = "lr",
       .digits = kShortest,
       .value = [](const EpochNumbers& e) { return e.rate; },
       .results = 3,
       .tags = 8},
      {.name = column_name::kTrainLoss,
       .tag = "loss/train",
       .digits = 6,
       .value = [](const EpochNumbers& e) { return e.train_loss; },
       .results = 4,
       .tags = 1,
       .in_summary = true},
      {.name = column_name::kTrainTop1,
       .tag = "top1/train",
       .digits = 6,
       .style = kPercent,
       .value = [](const EpochNumbers& e) { return e.train_top1; },
       .results = 5,
       .tags = 3,
       .in_summary = true},
      {.name = column_name::kSeconds,
       .tag = "speed/epoch_seconds",
       .digits = 3,
       .value = [](const EpochNumbers& e) { return e.seconds; },
       .results = 11,
       .tags = 11,
       .in_summary = true},
      {.name = "val_seconds",
       .digits = 3,
       .value = [](const EpochNumbers& e) { return e.validation_seconds; },
       .results = 12},
      {.name = column_name::kSamplesPerSecond,
       .tag = "speed/samples_per_second",
       .style = kCount,
       .value = [](const EpochNumbers& e) { return e.samples_per_second; },
       .results = 13,
       .tags = 9,
       .in_summary = true},
      {.name = column_name::kWaitShare,
       .tag = "speed/wait_share",
       .digits = 4,
       .style = kPercent,
       .value = [](const EpochNumbers& e) { return e.wait_share; },
       .results = 14,
       .tags = 10},
      {.name = "val_samples",
       .value = [](const EpochNumbers& e) { return static_cast<double>(e.validation.samples); },
       .results = 15},
  };
}

std::vector<EpochColumn> columns_of(Task task) {
  std::vector<EpochColumn> list = columns_besides_metrics();
  if (task != Task::kClassify) {
    std::erase_if(list, [](const EpochColumn& one) { return one.name == column_name::kTrainTop1; });
  }
  for (const Metric& one : metric_list(task)) {
    list.push_back({.name = fmt::format("val_{}", one.name),
                    .tag = with_k(one.name, "k") + "/val",
                    .digits = kMetricDigits,
                    .style = one.style,
                    .value = [&one](const EpochNumbers& e) { return one.value(e.validation); },
                    .results = one.places.results,
                    .tags = one.places.tags,
                    .in_summary = one.in_summary});
  }
  return list;
}

const std::vector<EpochColumn>& epoch_columns(Task task) {
  static const std::array all = {columns_of(Task::kClassify), columns_of(Task::kMultilabel),
                                 columns_of(Task::kRegress)};
  return all.at(static_cast<std::size_t>(task));
}

// Those that have a place, in their order.
template <typename List, typename Place>
auto in_order(const List& list, Place place) {
  std::vector<const std::remove_cv_t<typename List::value_type>*> found;
  for (const auto& one : list) {
    if (place(one) != 0) found.push_back(&one);
  }
  std::ranges::stable_sort(found, {}, [&](const auto* one) { return place(*one); });
  return found;
}

auto metrics_in(Task task, MetricOutput output) {
  return in_order(metric_list(task), [&](const Metric& one) { return one.places.*output; });
}

auto columns_in(Task task, int EpochColumn::*output) {
  return in_order(epoch_columns(task), [&](const EpochColumn& one) { return one.*output; });
}

// "val_top5" is the column of "val_top{k}".
bool is_column(std::string_view name, std::string_view pattern) {
  const auto at = pattern.find(kK);
  if (at == std::string_view::npos) return name == pattern;
  const std::string_view before = pattern.substr(0, at), after = pattern.substr(at + kK.size());
  if (name.size() <= before.size() + after.size()) return false;
  const auto k = name.substr(before.size(), name.size() - before.size() - after.size());
  return name.starts_with(before) && name.ends_with(after) &&
         std::ranges::all_of(k, [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

std::span<const Metric> metric_list(Task task) {
  switch (task) {
    case Task::kClassify:
      return kClassifyMetrics;
    case Task::kMultilabel:
      return kMultilabelMetrics;
    case Task::kRegress:
      return kRegressMetrics;
  }
  return {};
}

const Metric& score_metric(Task task) {
  const char* name = task == Task::kClassify     ? metric_name::kTop1
                     : task == Task::kMultilabel ? metric_name::kMap
                                                 : metric_name::kR2;
  return *std::ranges::find(metric_list(task), std::string_view(name), &Metric::name);
}

std::string score_column(Task task) { return fmt::format("val_{}", score_metric(task).name); }

std::string results_header(std::int64_t top_k, Task task) {
  std::vector<std::string> names;
  for (const EpochColumn* one : columns_in(task, &EpochColumn::results)) {
    names.push_back(with_k(one->name, std::to_string(top_k)));
  }
  return fmt::format("{}", fmt::join(names, ","));
}

std::string results_row(const EpochNumbers& epoch) {
  std::vector<std::string> fields;
  for (const EpochColumn* one : columns_in(epoch.validation.task, &EpochColumn::results)) {
    fields.push_back(field(one->value(epoch), one->digits));
  }
  return fmt::format("{}", fmt::join(fields, ","));
}

NamedNumbers epoch_tags(const EpochNumbers& epoch) {
  NamedNumbers numbers;
  for (const EpochColumn* one : columns_in(epoch.validation.task, &EpochColumn::tags)) {
    numbers.emplace_back(one->tag, one->value(epoch));
  }
  return numbers;
}

NamedNumbers test_tags(const MetricsResult& result) {
  NamedNumbers numbers;
  for (const Metric* one : metrics_in(result.task, &MetricPlaces::test_tags)) {
    numbers.emplace_back(with_k(one->name, "k") + "/test", one->value(result));
  }
  return numbers;
}

NamedNumbers metric_values(const MetricsResult& result, std::int64_t top_k, MetricOutput output) {
  NamedNumbers numbers;
  for (const Metric* one : metrics_in(result.task, output)) {
    numbers.emplace_back(with_k(one->name, std::to_string(top_k)), one->value(result));
  }
  return numbers;
}

std::string labelled(std::string_view name, double value) {
  for (const Task task : kTasks) {
    for (const Metric& one : metric_list(task)) {
      if (one.name == name) return fmt::format("{} {}", one.label, styled(one, value));
    }
  }
  STOKER_INVARIANT(false, "name={}", name);
}

std::string metric_lines(const MetricsResult& result, std::int64_t top_k) {
  std::string lines;
  for (const Metric* one : metrics_in(result.task, &MetricPlaces::text)) {
    // The gap of "top-10" is that of "top-5", so that lines stay as they were before this list.
    const std::size_t width = letters(with_k(one->label, "k"));
    lines += fmt::format("{}{:{}}{}\n", with_k(one->label, std::to_string(top_k)), "",
                         kLabelWidth - width, styled(*one, one->value(result)));
  }
  return lines;
}

ColumnFormat column_format(std::string_view name) {
  for (const Task task : kTasks) {
    for (const EpochColumn* one : columns_in(task, &EpochColumn::results)) {
      if (is_column(name, one->name)) return {.style = one->style, .in_summary = one->in_summary};
    }
  }
  return {};
}

}  // namespace stoker

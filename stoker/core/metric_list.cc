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

// A new metric goes to the end and needs no places: it then appears in every output, behind what is
// there.
constexpr auto kMetrics = std::to_array<Metric>({
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

constexpr int kShortest = -1;  // as many digits as say which double it is

constexpr std::string_view kK = "{k}";
constexpr int kMetricDigits = 6;         // in results.csv
constexpr std::size_t kLabelWidth = 11;  // in the text of `stoker eval`, with the gap behind it
static_assert(std::ranges::all_of(kMetrics, [](const Metric& metric) {
  return std::string_view(metric.label).size() < kLabelWidth;
}));

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

const std::vector<EpochColumn>& epoch_columns() {
  static const std::vector<EpochColumn> all = [] {
    std::vector<EpochColumn> list = columns_besides_metrics();
    for (const Metric& one : kMetrics) {
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
  }();
  return all;
}

// Those that have a place, in their order.
template <typename List, typename Place>
auto in_order(const List& list, Place place) {
  std::vector<const typename List::value_type*> found;
  for (const auto& one : list) {
    if (place(one) != 0) found.push_back(&one);
  }
  std::ranges::stable_sort(found, {}, [&](const auto* one) { return place(*one); });
  return found;
}

auto metrics_in(MetricOutput output) {
  return in_order(kMetrics, [&](const Metric& one) { return one.places.*output; });
}

auto columns_in(int EpochColumn::*output) {
  return in_order(epoch_columns(), [&](const EpochColumn& one) { return one.*output; });
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

std::span<const Metric> metric_list() { return kMetrics; }

std::string results_header(std::int64_t top_k) {
  std::vector<std::string> names;
  for (const EpochColumn* one : columns_in(&EpochColumn::results)) {
    names.push_back(with_k(one->name, std::to_string(top_k)));
  }
  return fmt::format("{}", fmt::join(names, ","));
}

std::string results_row(const EpochNumbers& epoch) {
  std::vector<std::string> fields;
  for (const EpochColumn* one : columns_in(&EpochColumn::results)) {
    fields.push_back(field(one->value(epoch), one->digits));
  }
  return fmt::format("{}", fmt::join(fields, ","));
}

NamedNumbers epoch_tags(const EpochNumbers& epoch) {
  NamedNumbers numbers;
  for (const EpochColumn* one : columns_in(&EpochColumn::tags)) {
    numbers.emplace_back(one->tag, one->value(epoch));
  }
  return numbers;
}

NamedNumbers test_tags(const MetricsResult& result) {
  NamedNumbers numbers;
  for (const Metric* one : metrics_in(&MetricPlaces::test_tags)) {
    numbers.emplace_back(with_k(one->name, "k") + "/test", one->value(result));
  }
  return numbers;
}

NamedNumbers metric_values(const MetricsResult& result, std::int64_t top_k, MetricOutput output) {
  NamedNumbers numbers;
  for (const Metric* one : metrics_in(output)) {
    numbers.emplace_back(with_k(one->name, std::to_string(top_k)), one->value(result));
  }
  return numbers;
}

std::string labelled(std::string_view name, double value) {
  const auto found = std::ranges::find(kMetrics, name, &Metric::name);
  STOKER_INVARIANT(found != kMetrics.end(), "name={}", name);
  return fmt::format("{} {}", found->label, styled(*found, value));
}

std::string metric_lines(const MetricsResult& result, std::int64_t top_k) {
  std::string lines;
  for (const Metric* one : metrics_in(&MetricPlaces::text)) {
    // The gap of "top-10" is that of "top-5", so that lines stay as they were before this list.
    const std::size_t width = with_k(one->label, "k").size();
    lines += fmt::format("{}{:{}}{}\n", with_k(one->label, std::to_string(top_k)), "",
                         kLabelWidth - width, styled(*one, one->value(result)));
  }
  return lines;
}

ColumnFormat column_format(std::string_view name) {
  for (const EpochColumn* one : columns_in(&EpochColumn::results)) {
    if (is_column(name, one->name)) return {.style = one->style, .in_summary = one->in_summary};
  }
  return {};
}

}  // namespace stoker

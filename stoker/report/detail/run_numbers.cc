#include <cmath>

#include "stoker/core/metric_list.h"
#include "stoker/report/detail/run_sections.h"

namespace stoker::detail {
namespace {

// The mean of a column, each epoch weighted with its seconds.
double over_all_epochs(const RunReport& run, const std::string& column) {
  const std::vector<double>* seconds = run.results.find(column_name::kSeconds);
  const std::vector<double>* values = run.results.find(column);
  if (seconds == nullptr || values == nullptr) return std::nan("");
  double sum = 0, time = 0;
  for (std::size_t i = 0; i < seconds->size(); ++i) {
    if (!std::isfinite((*seconds)[i]) || !std::isfinite((*values)[i])) continue;
    sum += (*seconds)[i] * (*values)[i];
    time += (*seconds)[i];
  }
  return time > 0 ? sum / time : std::nan("");
}

}  // namespace

double last_of(const NumberTable& table, const std::string& column) {
  const std::vector<double>* values = table.find(column);
  double last = std::nan("");
  if (values == nullptr) return last;
  for (const double value : *values) {
    if (std::isfinite(value)) last = value;
  }
  return last;
}

BestRow best_of(const NumberTable& table, const std::string& column) {
  BestRow best{.value = std::nan(""), .row = table.rows()};
  const std::vector<double>* values = table.find(column);
  if (values == nullptr) return best;
  for (std::size_t i = 0; i < values->size(); ++i) {
    const double value = (*values)[i];
    if (std::isfinite(value) && !(value <= best.value)) best = {.value = value, .row = i};
  }
  return best;
}

double training_seconds(const RunReport& run) {
  const std::vector<double>* seconds = run.results.find(column_name::kSeconds);
  const std::vector<double>* speed = run.results.find(column_name::kSamplesPerSecond);
  if (seconds == nullptr) return std::nan("");
  double sum = 0;
  for (std::size_t i = 0; i < seconds->size(); ++i) {
    const bool by_speed = run.epoch_samples > 0 && speed != nullptr && (*speed)[i] > 0;
    const double epoch = by_speed ? run.epoch_samples / (*speed)[i] : (*seconds)[i];
    if (std::isfinite(epoch)) sum += epoch;
  }
  return sum + features_seconds(run);
}

double features_seconds(const RunReport& run) {
  const std::vector<double>* seconds = run.timing.find("features_seconds");
  double sum = 0;
  if (seconds == nullptr) return sum;
  for (const double one : *seconds) sum += std::isfinite(one) ? one : 0;
  return sum;
}

double training_speed(const RunReport& run) {
  return over_all_epochs(run, column_name::kSamplesPerSecond);
}

double waiting_share(const RunReport& run) { return over_all_epochs(run, column_name::kWaitShare); }

}  // namespace stoker::detail

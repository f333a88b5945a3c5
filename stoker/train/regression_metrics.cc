#include "stoker/train/regression_metrics.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"
#include "stoker/core/philox.h"
#include "stoker/train/detail/class_figures.h"
#include "stoker/train/metrics.h"

namespace stoker {
namespace {

std::size_t checked_targets(std::int64_t targets) {
  if (targets >= 1 && targets <= kMaxClasses) return static_cast<std::size_t>(targets);
  throw Error({.what = "cannot measure this number of targets",
               .expected = fmt::format("1 to {}", kMaxClasses),
               .found = fmt::format("{}", targets)});
}

// Different for different indices as good as always; equal ones are told apart by the index.
std::uint64_t order_of(std::uint64_t index) {
  const PhiloxBlock random = philox4x32(
      {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), 0, 0}, {});
  return std::uint64_t{random[0]} << 32 | random[1];
}

bool all_finite(std::span<const float> numbers) {
  return std::ranges::all_of(numbers, [](float number) { return std::isfinite(number); });
}

}  // namespace

RegressionMetrics::RegressionMetrics(std::int64_t targets)
    : most_kept_(std::max<std::size_t>(1, kMaxPairs / checked_targets(targets))),
      targets_(static_cast<std::size_t>(targets)) {}

void RegressionMetrics::add(std::span<const std::uint64_t> indices,
                            std::span<const float> predictions, std::span<const float> truth,
                            std::span<const float> losses) {
  const std::size_t count = targets_.size();
  STOKER_INVARIANT(indices.size() == losses.size() && truth.size() == losses.size() * count &&
                       predictions.size() == truth.size(),
                   "{} indices, {} predictions, {} targets, {} losses", indices.size(),
                   predictions.size(), truth.size(), losses.size());
  if (!all_finite(truth)) {
    throw Error({.what = "a sample's target cannot be compared with",
                 .expected = "finite numbers",
                 .found = "NaN or infinity"});
  }
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto said = predictions.subspan(i * count, count);
    const auto right = truth.subspan(i * count, count);
    ++samples_;
    loss_ += losses[i];
    const bool finite = all_finite(said);
    without_prediction_ += finite ? 0 : 1;
    if (finite) keep(indices[i], said, right);
    for (std::size_t t = 0; t < count; ++t) {
      Sums& sums = targets_[t];
      const double error = static_cast<double>(said[t]) - right[t];
      sums.absolute += std::abs(error);
      sums.squared += error * error;
      const double before = right[t] - sums.mean;
      sums.mean += before / static_cast<double>(samples_);
      sums.squares_around += before * (right[t] - sums.mean);
    }
  }
}

void RegressionMetrics::keep(std::uint64_t index, std::span<const float> predictions,
                             std::span<const float> truth) {
  const std::uint64_t order = order_of(index);
  if (order > highest_) return;
  Kept one{.order = order, .sample = index, .numbers = {truth.begin(), truth.end()}};
  one.numbers.insert(one.numbers.end(), predictions.begin(), predictions.end());
  kept_.push_back(std::move(one));
  if (kept_.size() < 2 * most_kept_) return;
  keep_first(kept_, most_kept_);
  highest_ = std::ranges::max(kept_, {}, &Kept::order).order;
}

void RegressionMetrics::keep_first(std::vector<Kept>& kept, std::size_t most) {
  if (kept.size() <= most) return;
  const auto earlier = [](const Kept& a, const Kept& b) {
    return a.order != b.order ? a.order < b.order : a.sample < b.sample;
  };
  std::ranges::nth_element(kept, kept.begin() + static_cast<std::ptrdiff_t>(most), earlier);
  kept.resize(most);
}

TargetPairs RegressionMetrics::pairs() const {
  std::vector<Kept> chosen = kept_;
  keep_first(chosen, most_kept_);
  std::ranges::sort(chosen, {}, &Kept::sample);
  TargetPairs pairs;
  const auto count = static_cast<std::ptrdiff_t>(targets_.size());
  for (const Kept& one : chosen) {
    pairs.samples.push_back(one.sample);
    pairs.truth.insert(pairs.truth.end(), one.numbers.begin(), one.numbers.begin() + count);
    pairs.predicted.insert(pairs.predicted.end(), one.numbers.begin() + count, one.numbers.end());
  }
  return pairs;
}

MetricsResult RegressionMetrics::result() const {
  MetricsResult result{.task = Task::kRegress,
                       .samples = samples_,
                       .without_prediction = without_prediction_,
                       .top1 = kNotDefined,
                       .top_k = kNotDefined,
                       .calibration_error = kNotDefined,
                       .macro_precision = kNotDefined,
                       .macro_recall = kNotDefined,
                       .macro_f1 = kNotDefined};
  const auto samples = static_cast<double>(samples_);
  result.loss = samples_ == 0 ? kNotDefined : loss_ / samples;
  const bool known = samples_ > 0 && without_prediction_ == 0;
  for (const Sums& sums : targets_) {
    TargetMetrics figures;
    if (known) {
      figures.mae = sums.absolute / samples;
      figures.rmse = std::sqrt(sums.squared / samples);
      if (sums.squares_around > 0) figures.r2 = 1 - sums.squared / sums.squares_around;
    }
    result.targets.push_back(figures);
  }
  result.mae = detail::mean_of_defined(result.targets, &TargetMetrics::mae);
  result.rmse = detail::mean_of_defined(result.targets, &TargetMetrics::rmse);
  result.r2 = detail::mean_of_defined(result.targets, &TargetMetrics::r2);
  return result;
}

}  // namespace stoker

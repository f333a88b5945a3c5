#include "stoker/train/multilabel_metrics.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"
#include "stoker/train/detail/class_figures.h"
#include "stoker/train/metrics.h"

namespace stoker {
namespace {

constexpr float kNoPrediction = -1;  // below every threshold
// More would not be a validation set but a mistake: 64 GB of scores.
constexpr std::int64_t kMaxScores = std::int64_t{1} << 34;

std::size_t checked_outputs(std::int64_t classes, std::int64_t samples) {
  const bool fits = classes >= 1 && classes <= kMaxClasses && samples >= 0;
  if (fits && samples <= kMaxScores / classes) return static_cast<std::size_t>(classes);
  throw Error(
      {.what = "cannot measure this number of classes and samples",
       .expected = fmt::format("1 to {} classes, at most {} scores", kMaxClasses, kMaxScores),
       .found = fmt::format("{} classes of {} samples", classes, samples)});
}

}  // namespace

struct MultilabelMetrics::Score {
  float value;
  bool present;
};

MultilabelMetrics::MultilabelMetrics(std::int64_t classes, std::int64_t samples)
    : classes_(checked_outputs(classes, samples)) {
  scores_.reserve(classes_ * static_cast<std::size_t>(samples));
  present_.reserve(scores_.capacity());
}

void MultilabelMetrics::check_targets(std::span<const float> targets) const {
  for (const float target : targets) {
    if (target == 0 || target == 1) continue;
    throw Error({.what = "a sample's target does not say whether it shows a class",
                 .expected = "0 or 1",
                 .found = fmt::format("{}", target)});
  }
}

void MultilabelMetrics::add(std::span<const float> probabilities, std::span<const float> targets,
                            std::span<const float> losses) {
  STOKER_INVARIANT(
      probabilities.size() == targets.size() && targets.size() == losses.size() * classes_,
      "{} probabilities, {} targets, {} losses, {} classes", probabilities.size(), targets.size(),
      losses.size(), classes_);
  check_targets(targets);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const auto row = probabilities.subspan(i * classes_, classes_);
    const bool finite = std::ranges::all_of(row, [](float p) { return std::isfinite(p); });
    without_prediction_ += finite ? 0 : 1;
    for (const float p : row) {
      // Logits by mistake would make thresholds meaningless.
      STOKER_INVARIANT(!finite || (p >= 0 && p <= 1.01F), "probability={}", p);
      scores_.push_back(finite ? p : kNoPrediction);
    }
    loss_ += losses[i];
  }
  for (const float target : targets) present_.push_back(target == 1 ? 1 : 0);
}

std::vector<MultilabelMetrics::Score> MultilabelMetrics::scores_of(std::size_t which) const {
  std::vector<Score> scores;
  scores.reserve(samples());
  for (std::size_t i = which; i < scores_.size(); i += classes_) {
    scores.push_back({scores_[i], present_[i] != 0});
  }
  std::ranges::sort(scores, std::ranges::greater(), &Score::value);
  return scores;
}

namespace {

// Calls step(scores so far, of them present, the last value, the next lower value or NaN) for each
// value that occurs, from the greatest on: equal scores are one step.
template <typename Scores, typename Step>
void for_each_value(const Scores& scores, const Step& step) {
  std::int64_t present = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    present += scores[i].present ? 1 : 0;
    const bool last = i + 1 == scores.size();
    if (!last && scores[i + 1].value == scores[i].value) continue;
    step(static_cast<std::int64_t>(i + 1), present, scores[i].value,
         last ? kNoPrediction : scores[i + 1].value);
  }
}

// The sum over the values of precision times what recall gains.
template <typename Scores>
double average_precision(const Scores& scores, std::int64_t support) {
  if (support == 0) return kNotDefined;
  double sum = 0;
  std::int64_t before = 0;
  for_each_value(scores, [&](std::int64_t count, std::int64_t present, float, float) {
    sum += static_cast<double>(present - before) *
           (static_cast<double>(present) / static_cast<double>(count));
    before = present;
  });
  return sum / static_cast<double>(support);
}

template <typename Scores>
double best_threshold(const Scores& scores, std::int64_t support) {
  if (support == 0) return kDefaultThreshold;
  // F1 is 2 present / (count + support); fractions are compared without rounding.
  double best = kDefaultThreshold;
  std::int64_t best_present = 0, best_whole = 1;
  for_each_value(scores, [&](std::int64_t count, std::int64_t present, float value, float next) {
    if (value == kNoPrediction) return;  // no threshold reaches it
    const double between = (static_cast<double>(value) + std::max(0.0F, next)) / 2;
    const std::int64_t whole = count + support;
    const std::int64_t here = present * best_whole, there = best_present * whole;
    const auto distance = [](double t) { return std::abs(t - kDefaultThreshold); };
    if (here < there || (here == there && distance(between) >= distance(best))) return;
    best = std::min(1.0, between);
    best_present = present;
    best_whole = whole;
  });
  return best;
}

template <typename Scores>
std::int64_t count_present(const Scores& scores) {
  return std::ranges::count_if(scores, [](const auto& score) { return score.present; });
}

}  // namespace

std::vector<double> MultilabelMetrics::choose_thresholds() const {
  std::vector<double> thresholds;
  for (std::size_t c = 0; c < classes_; ++c) {
    const std::vector<Score> scores = scores_of(c);
    thresholds.push_back(best_threshold(scores, count_present(scores)));
  }
  return thresholds;
}

void MultilabelMetrics::add_overall(MetricsResult& result,
                                    std::span<const double> thresholds) const {
  Counts all;
  std::int64_t exact = 0;
  for (std::size_t i = 0; i < samples(); ++i) {
    const std::size_t row = i * classes_;
    bool same = scores_[row] != kNoPrediction;
    for (std::size_t c = 0; c < classes_; ++c) {
      const bool present = present_[row + c] != 0, shown = scores_[row + c] >= thresholds[c];
      all.support += present ? 1 : 0;
      all.predicted += shown ? 1 : 0;
      all.right += present && shown ? 1 : 0;
      same = same && present == shown;
    }
    exact += same ? 1 : 0;
  }
  result.micro_f1 = detail::fraction_of(2 * all.right, all.support + all.predicted);
  result.exact_match = detail::fraction_of(exact, result.samples);
}

MetricsResult MultilabelMetrics::result(std::span<const double> thresholds) const {
  const std::vector<double> plain(thresholds.empty() ? classes_ : 0, kDefaultThreshold);
  if (thresholds.empty()) thresholds = plain;
  STOKER_INVARIANT(thresholds.size() == classes_, "{} thresholds, {} classes", thresholds.size(),
                   classes_);
  MetricsResult result{.task = Task::kMultilabel,
                       .samples = static_cast<std::int64_t>(samples()),
                       .without_prediction = without_prediction_,
                       .top1 = kNotDefined,
                       .top_k = kNotDefined,
                       .calibration_error = kNotDefined};
  result.loss = result.samples == 0 ? kNotDefined : loss_ / static_cast<double>(result.samples);
  for (std::size_t c = 0; c < classes_; ++c) {
    const std::vector<Score> scores = scores_of(c);
    const std::int64_t support = count_present(scores);
    const auto end = std::ranges::find_if(
        scores, [&](const Score& score) { return score.value < thresholds[c]; });
    const std::vector<Score> shown(scores.begin(), end);
    ClassMetrics figures = detail::class_figures(support, static_cast<std::int64_t>(shown.size()),
                                                 count_present(shown));
    figures.average_precision = average_precision(scores, support);
    figures.threshold = thresholds[c];
    result.classes.push_back(figures);
  }
  detail::add_macro_means(result);
  result.mean_average_precision =
      detail::mean_of_defined(result.classes, &ClassMetrics::average_precision);
  add_overall(result, thresholds);
  return result;
}

}  // namespace stoker
